// What is said of the pass or the task that is looked at: on a card beside it, and in a sentence for screen readers.

const MEANING = {
  F: "forward",
  R: "recomputation",
  I: "input gradient",
  W: "weight gradient",
  B: "full backward",
};

class Card {
  constructor() {
    this.card = document.getElementById("card");
    this.spoken = document.getElementById("spoken");
  }

  /** Shows a pass or a task of a panel; nothing hides the card. Only what the keyboard chose is spoken. */
  show(looked, aloud) {
    this.card.hidden = looked === null;
    if (looked === null) return;
    const { timeline } = looked.panel;
    this.card.replaceChildren(...(looked.lane ? this.#job(timeline, looked) : this.#lines(timeline, looked.id)));
    this.#place(looked);
    if (aloud) this.spoken.textContent = sentence(timeline, looked.id);
  }

  /** What is said of a task of a lane. */
  #job(timeline, { lane, at }) {
    const { work, stage, kind, ticks } = lane.classOf(at);
    const time = (instant) => timeInFull(instant, timeline.timeUnit);
    const list = document.createElement("dl");
    const place = lane.label === null ? "behind its passes" : lane.name;
    list.append(...fact("place", "runs", `device ${lane.device}: ${place}`), ...fact("stage", "stage", String(stage)));
    if (kind !== null) list.append(...fact("microbatch", "microbatch", String(lane.microbatch[at])));
    list.append(
      ...fact("start", "start", time(lane.start[at])),
      ...fact("end", "end", time(lane.end[at])),
      ...fact("duration", "duration", time(ticks)),
    );
    return [element("strong", lane.subject(at)), element("span", work), list];
  }

  #lines(timeline, id) {
    const { stage, kind, chunk, ticks } = timeline.classOf(id);
    const time = (instant) => timeInFull(instant, timeline.timeUnit);
    const lines = [
      element("strong", timeline.name(id)),
      element("span", `${MEANING[kind]}${timeline.isCritical[id] ? ", on the critical path" : ""}`),
    ];
    const list = document.createElement("dl");
    list.append(
      ...fact("place", "runs", `stage ${stage} (chunk ${chunk}) on device ${timeline.device[id]}`),
      ...fact("microbatch", "microbatch", String(timeline.microbatch[id])),
      ...fact("start", "start", time(timeline.start[id])),
      ...fact("end", "end", time(timeline.end[id])),
      ...fact("duration", "duration", time(ticks)),
      ...fact("memory", "memory", memory(timeline, id)),
      ...fact("needs", "needs", needs(timeline, id)),
      ...fact("leads", "needed by", names(timeline, timeline.leadsTo(id)) || "nothing"),
    );
    if (timeline.partner[id] >= 0) {
      list.append(...fact("pair", "overlapped", `with ${timeline.name(timeline.partner[id])}: both yield at the end of both`));
    }
    lines.push(list);
    return lines;
  }

  /** Beside its device, where it covers neither that nor leaves the window. */
  #place(looked) {
    const { timeline, painter, canvas } = looked.panel;
    const frame = canvas.getBoundingClientRect();
    const x = Math.max(painter.x(during(looked)[0]), GUTTER);
    const device = looked.lane ? looked.lane.device : timeline.device[looked.id];
    const top = frame.top + painter.y(device);
    const { offsetWidth, offsetHeight } = this.card;
    const left = Math.min(Math.max(frame.left + x, 8), innerWidth - offsetWidth - 8);
    const below = top + looked.panel.heightOf(device) + 8;
    const fits = below + offsetHeight < innerHeight;
    this.card.style.left = `${Math.max(left, 8)}px`;
    this.card.style.top = `${fits ? below : Math.max(top - offsetHeight - 8, 8)}px`;
  }
}

/** A line of a list: a term, and what is said of it. */
function fact(key, term, text) {
  const value = element("dd", text);
  value.dataset.key = key;
  return [element("dt", term), value];
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function names(timeline, related) {
  return related.map(({ id }) => timeline.name(id)).join(", ");
}

/** What a pass waits for, and how long before its start each of that is there. */
function needs(timeline, id) {
  const parts = timeline.needs(id).map((need) => {
    const early = timeline.begins(id) - timeline.yields(need.id) - need.latency;
    const time = (ticks) => timeInFull(ticks, timeline.timeUnit);
    const there = early === 0 ? "just in time" : `${time(early)} early`;
    return `${timeline.name(need.id)} (${need.latency > 0 ? `latency ${time(need.latency)}, ` : ""}${there})`;
  });
  return parts.join(", ") || "nothing";
}

function memory(timeline, id) {
  const shown = (amount) => memoryShown(amount, timeline.memoryUnit, timeline.memoryScale);
  const [before, during, after] = [timeline.before[id], timeline.during[id], timeline.after[id]].map(shown);
  return `${before} before, ${during} while it runs, ${after} after`;
}

function sentence(timeline, id) {
  const { stage, kind } = timeline.classOf(id);
  const time = (instant) => timeInFull(instant, timeline.timeUnit);
  return [
    `${timeline.name(id)}: ${MEANING[kind]} of stage ${stage}, microbatch ${timeline.microbatch[id]}, `,
    `on device ${timeline.device[id]}. `,
    `From ${time(timeline.start[id])} to ${time(timeline.end[id])}. `,
    `Memory ${memory(timeline, id)}. `,
    `Needs ${names(timeline, timeline.needs(id)) || "nothing"}. `,
    `Needed by ${names(timeline, timeline.leadsTo(id)) || "nothing"}.`,
    timeline.partner[id] >= 0 ? ` Overlapped with ${timeline.name(timeline.partner[id])}.` : "",
    timeline.isCritical[id] ? " On the critical path." : "",
  ].join("");
}
