import type { Job } from '../../lib/job.ts';
import type { Outcome, Phase } from '../../lib/outcome.ts';
import type { CancelOutcome } from '../../lib/ports.ts';
import type { Dice } from './dice.ts';
import { faultOf, type Lies } from './lies.ts';

/** What the provider really has: one clip for each idempotency key, and a bill for each clip. */
export interface Clip {
  readonly jobId: string;
  readonly providerJobId: string;
  readonly acceptedAtMs: number;
  /** When it is rendered; infinite for one that never is. */
  endsAtMs: number;
  endsAs: 'completed' | 'failed' | 'canceled' | 'expired';
  /** From then on the provider knows it no more. */
  forgottenAtMs: number;
}

const never = Number.POSITIVE_INFINITY;

export interface ProviderSettings {
  /** Clips being rendered or queued at a time; a create above that is refused for now. */
  slots: number;
  renderMinMs: number;
  renderMaxMs: number;
}

/** A request for it is refused for good, whenever it is sent. */
export const refusedModel = 'no-such-model';

/** The provider: the truth about each clip, and what it says about it, which is the truth unless `lies` has another idea. */
export class ProviderSide {
  readonly #dice: Dice;
  readonly #settings: ProviderSettings;
  readonly #lies: Lies;
  readonly #nowMs: () => number;
  readonly #clips = new Map<string, Clip>();

  constructor(dice: Dice, settings: ProviderSettings, lies: Lies, nowMs: () => number) {
    this.#dice = dice;
    this.#settings = settings;
    this.#lies = lies;
    this.#nowMs = nowMs;
  }

  /** By the idempotency key that came with the create, which is the job's id. */
  get clips(): ReadonlyMap<string, Clip> {
    return this.#clips;
  }

  /** One call of the product that arrived. */
  create(job: Job): Outcome {
    const known = this.#clips.get(job.id);
    if (known !== undefined) return this.#lies.replayed(this.#accepted(known));
    if (job.input.model === refusedModel) return { kind: 'refused', fault: faultOf('invalid_request') };
    const turnedAway = this.#lies.turnedAway();
    if (turnedAway !== null) return turnedAway;
    if (this.#open() >= this.#settings.slots) {
      return { kind: 'no_slot', retryAfterMs: this.#dice.pick([null, 3_000, 20_000]), fault: faultOf('no_slot') };
    }
    return this.#lies.accepted(this.#accepted(this.#render(job)));
  }

  read(job: Job): Outcome {
    const clip = this.#clips.get(job.id);
    return this.#lies.read(this.#truthOf(clip?.providerJobId === job.providerJobId ? clip : undefined));
  }

  /** Ends what is queued or being rendered, and takes it off the bill. */
  cancel(job: Job): CancelOutcome {
    const clip = this.#clips.get(job.id);
    const nowMs = this.#nowMs();
    const isKnown = clip !== undefined && clip.providerJobId === job.providerJobId && clip.forgottenAtMs > nowMs;
    const lie = this.#lies.canceled();
    if (isKnown && clip.endsAtMs > nowMs && lie?.isDone !== false)
      Object.assign(clip, { endsAtMs: nowMs, endsAs: 'canceled' });
    if (lie !== null) return lie.says;
    return isKnown ? { kind: 'told' } : { kind: 'missing', fault: faultOf('job_not_found') };
  }

  /** Loses what it knew of one clip, for good. */
  forget(clip: Clip): void {
    clip.forgottenAtMs = this.#nowMs();
  }

  #render(job: Job): Clip {
    const { renderMinMs, renderMaxMs } = this.#settings;
    const clip: Clip = {
      jobId: job.id,
      providerJobId: `clip_${this.#clips.size}_${job.id.slice(4, 10)}`,
      acceptedAtMs: this.#nowMs(),
      endsAtMs: this.#dice.chance(0.04) ? never : this.#nowMs() + this.#dice.spread(renderMinMs, renderMaxMs),
      endsAs: this.#dice.chance(0.8) ? 'completed' : this.#dice.pick(['failed', 'canceled', 'expired']),
      forgottenAtMs: never,
    };
    this.#clips.set(job.id, clip);
    return clip;
  }

  /** Clips that take up a slot. One that never ends takes up none, or the others would wait for ever. */
  #open(): number {
    const nowMs = this.#nowMs();
    const takesSlot = (clip: Clip) => clip.endsAtMs > nowMs && clip.endsAtMs < never && clip.forgottenAtMs > nowMs;
    return [...this.#clips.values()].filter(takesSlot).length;
  }

  #accepted(clip: Clip): Extract<Outcome, { kind: 'accepted' }> {
    const phase = this.#phaseOf(clip);
    return { kind: 'accepted', providerJobId: clip.providerJobId, phase, word: phase, hintMs: this.#hint(clip) };
  }

  #truthOf(clip: Clip | undefined): Outcome {
    const nowMs = this.#nowMs();
    if (clip === undefined || clip.forgottenAtMs <= nowMs) return { kind: 'missing', fault: faultOf('job_not_found') };
    if (clip.endsAtMs > nowMs) {
      const phase = this.#phaseOf(clip);
      return { kind: 'running', phase, word: phase, hintMs: this.#hint(clip) };
    }
    if (clip.endsAs === 'completed') {
      return { kind: 'completed', word: 'completed', result: { value: { url: clip.providerJobId }, truncated: false } };
    }
    return { kind: 'ended', as: clip.endsAs, word: clip.endsAs, fault: faultOf('render_failed') };
  }

  #phaseOf(clip: Clip): Phase {
    return this.#nowMs() < clip.acceptedAtMs + 5_000 ? 'queued' : 'processing';
  }

  /** The longer it takes, the seldomer it wants to be asked. */
  #hint({ acceptedAtMs }: Clip): number {
    const ageMs = this.#nowMs() - acceptedAtMs;
    return Math.min(Math.max(this.#dice.pick([2_000, 5_000, 15_000]), Math.round(ageMs / 5)), 600_000);
  }
}
