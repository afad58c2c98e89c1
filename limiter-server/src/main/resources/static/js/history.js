// What the levels were over the last minutes: one sample a second comes in, one point per step is kept, its highest. Kept over a
// reload of the tab.

const STEP_MS = 5_000;
const STEPS = 120;
const FEWEST = 12;

export { STEP_MS };

export class History {
  constructor(project) {
    this.key = `history:${project}`;
    this.steps = []; // {at: number of the step, taken: {limit: share}}
    this.restore();
  }

  /** One look at the project: `taken` the share of each limit. */
  add(now, taken) {
    const at = Math.floor(now / STEP_MS);
    let step = this.steps.at(-1);
    if (!step || step.at < at) {
      step = { at, taken: {} };
      this.steps.push(step);
      while (this.steps[0].at <= at - STEPS) {
        this.steps.shift();
      }
    }
    for (const [key, share] of Object.entries(taken)) {
      step.taken[key] = Math.max(step.taken[key] ?? 0, share);
    }
  }

  /** How many steps there are to show: all of the span, or fewer while there is little to see. */
  length(now) {
    const seen = this.steps.length > 0 ? Math.floor(now / STEP_MS) - this.steps[0].at + 1 : 0;
    return Math.min(STEPS, Math.max(FEWEST, seen));
  }

  /** Seconds since 1970 of the last `length` steps, whether or not somebody looked. */
  axis(now, length = STEPS) {
    const first = Math.floor(now / STEP_MS) - length + 1;
    return Array.from({ length }, (_, i) => ((first + i) * STEP_MS) / 1000);
  }

  /** A value for each step of that axis; null where nobody looked. */
  series(now, valueOf, length = STEPS) {
    const first = Math.floor(now / STEP_MS) - length + 1;
    const values = new Array(length).fill(null);
    for (const step of this.steps) {
      const i = step.at - first;
      if (i >= 0 && i < length) {
        values[i] = valueOf(step) ?? null;
      }
    }
    return values;
  }

  save() {
    try {
      sessionStorage.setItem(this.key, JSON.stringify({ steps: this.steps }));
    } catch {
      // Full or forbidden: then a reload begins anew.
    }
  }

  restore() {
    try {
      const { steps } = JSON.parse(sessionStorage.getItem(this.key)) ?? {};
      const oldest = Math.floor(Date.now() / STEP_MS) - STEPS;
      this.steps = (steps ?? []).filter((step) => step.at > oldest);
    } catch {
      // As above.
    }
  }
}
