/* A bot for Chicago (docs/bot-protocol.md) in C without libraries: cc -O2 -o bot bot.c
 * It looks for what it needs in the line: the harness writes JSON without blanks, and `legal` comes after `view`.
 * Keeps its pairs and better, names them, takes tricks as cheaply as it can. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64
static const char RANKS[] = "23456789TJQKA";

static int rank(const char *card) { return (int)(strchr(RANKS, card[0]) - RANKS); }

/* What stands after "key": in text, or an empty string. */
static const char *value(const char *text, const char *key) {
    char name[40];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = text ? strstr(text, name) : NULL;
    return at ? at + strlen(name) : "";
}

static int is(const char *text, const char *key, const char *word) {
    return strncmp(value(text, key), word, strlen(word)) == 0;
}

/* Whether card stands in the list at text, which ends with ]. */
static int holds(const char *list, const char *card) {
    for (; *list && *list != ']'; list++)
        if (list[0] == '"' && strncmp(list + 1, card, 2) == 0) return 1;
    return 0;
}

struct option { int id; char text[64]; };

static int read_legal(const char *line, struct option *options) {
    int count = 0;
    const char *at = value(line, "legal");
    while (count < MOST && (at = strstr(at, "{\"id\":"))) {
        if (sscanf(at, "{\"id\":%d,\"text\":\"%63[^\"]", &options[count].id, options[count].text) == 2) count++;
        at += 6;
    }
    return count;
}

/* The exchange that throws away every card that is no part of the pair or better; of nothing, all but the highest. */
static int exchange(const char *view, const struct option *options, int count) {
    const char *hand = value(view, "hand"), *group = value(view, "group");
    int bits = 0, i = 0, high = -1, place = 0;
    for (const char *at = hand; *at && *at != ']'; at++) {
        if (*at != '"') continue;
        if (!holds(group, at + 1) || is(view, "category", "\"high card\"")) bits |= 1 << i;
        if (rank(at + 1) >= high) high = rank(at + 1), place = i;
        i++;
        at += 3;
    }
    if (is(view, "category", "\"high card\"")) bits &= ~(1 << place);
    for (i = 0; i < count; i++)
        if (options[i].id == bits) return bits;
    return options[0].id;
}

static int play(const char *view, const struct option *options, int count) {
    const char *best = value(view, "winning_card");
    int low = 0, high = 0, cheap = -1;
    for (int i = 0; i < count; i++) {
        const char *card = options[i].text + 5;
        if (rank(card) < rank(options[low].text + 5)) low = i;
        if (rank(card) > rank(options[high].text + 5)) high = i;
        if (best[0] == '"' && card[1] == best[2] && rank(card) > rank(best + 1))
            if (cheap < 0 || rank(card) < rank(options[cheap].text + 5)) cheap = i;
    }
    return options[best[0] != '"' ? high : cheap >= 0 ? cheap : low].id;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    struct option options[MOST];
    while (getline(&line, &room, stdin) > 0) {
        if (is(line, "type", "\"hello\"")) {
            puts("{\"type\":\"hello\",\"protocol\":1,\"name\":\"reference-c\",\"version\":\"1\"}");
        } else if (is(line, "type", "\"act\"")) {
            const char *view = strstr(line, "\"view\":{");
            int count = read_legal(line, options), action = options[count - 1].id; /* the hand's name, accept, reset */
            if (is(view, "phase", "\"exchange\"")) action = exchange(view, options, count);
            if (is(view, "phase", "\"play\"")) action = play(view, options, count);
            if (is(view, "phase", "\"chicago\"")) action = options[0].id;
            printf("{\"type\":\"action\",\"turn\":%ld,\"action\":%d}\n", atol(value(line, "turn")), action);
        } else if (is(line, "type", "\"quit\"")) {
            break;
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
