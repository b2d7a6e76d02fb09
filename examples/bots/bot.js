#!/usr/bin/env node
// A bot for Chicago (docs/bot-protocol.md), for Node without packages: draws to pairs and long suits, keeps high cards
// for the last trick.
"use strict";

const RANKS = "23456789TJQKA";
const rank = (card) => RANKS.indexOf(card[0]);
const low = (a, b) => rank(a) - rank(b);

// What to throw away: keeps pairs and better, four cards of a suit, else the two highest cards.
function thrownAway(view) {
  let kept = view.category === "high card" ? [] : view.group;
  if (kept.length < 3) {
    for (const suit of "CDHS") {
      const same = view.hand.filter((card) => card[1] === suit);
      if (same.length >= 4) kept = same;
    }
  }
  if (kept.length === 0) kept = [...view.hand].sort(low).slice(-2);
  return view.hand.filter((card) => !kept.includes(card));
}

function chooseCard(view, cards) {
  const sorted = [...cards].sort(low);
  const best = view.winning_card;
  if (view.winning_seat === null || best === null) {
    // leading: a suit of which others have shown to hold none loses no trick later
    const safe = sorted.filter((card) => view.voids.some((suits) => suits.includes(card[1])));
    return safe.length ? safe[safe.length - 1] : view.trick < 3 ? sorted[0] : sorted[sorted.length - 1];
  }
  const winning = sorted.filter((card) => card[1] === best[1] && rank(card) > rank(best));
  // the last trick is what counts: before it, high cards are kept
  if (view.trick >= 3 && winning.length) return winning[winning.length - 1];
  return view.trick === 2 && winning.length ? winning[0] : sorted[0];
}

function decide(message, seat) {
  const { view, legal } = message;
  const texts = legal.map((option) => option.text);
  switch (view.phase) {
    case "exchange": {
      const out = thrownAway(view);
      const text = out.length ? "discard " + out.join(" ") : "keep all";
      return texts.includes(text) ? text : texts[0];
    }
    case "open_choice":
      return "exchange open";
    case "open_accept":
      return view.hand.some((card) => card[0] === view.upcard[0]) ? "accept card" : "decline card";
    case "announce":
      return texts[texts.length - 1];
    case "four":
      return view.scores.some((score, s) => s !== seat && score >= 8) ? "four reset" : "four points";
    case "chicago":
      return view.hand.every((card) => rank(card) >= RANKS.indexOf("Q")) ? "call chicago" : "no chicago";
    default:
      return "play " + chooseCard(view, texts.map((text) => text.slice(5)));
  }
}

const seats = new Map();

function answer(message) {
  switch (message.type) {
    case "hello":
      return { type: "hello", protocol: 1, name: "reference-node", version: "1" };
    case "match":
      seats.set(message.game, message.seat);
      return null;
    case "match_end":
      seats.delete(message.game);
      return null;
    case "act":
      return { type: "action", turn: message.turn, action: decide(message, seats.get(message.game)) };
    default:
      return process.exit(0);
  }
}

// Lines may come in pieces, and many at once.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  const answers = lines.map((line) => answer(JSON.parse(line))).filter((said) => said !== null);
  if (answers.length) process.stdout.write(answers.map((said) => JSON.stringify(said) + "\n").join(""));
});
