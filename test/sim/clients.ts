import { JobStoreError } from '../../lib/errors.ts';
import { jobIdFor } from '../../lib/identify.ts';
import { isActive, needsCreate } from '../../lib/job.ts';
import type { Queue } from '../../lib/ports.ts';
import { type SubmitRequest, submit } from '../../lib/submit.ts';
import { ownAddress } from './audience.ts';
import type { Dice } from './dice.ts';
import { Doors, deadlyModel, type Outside } from './doors.ts';
import type { Fleet } from './fleet.ts';
import { refusedModel } from './provider-side.ts';

const owners = ['acme', 'acme', 'globex', 'initech'] as const;
/** An API call without an answer by then is over for its client, ms. */
const patienceMs = 15_000;
const triesMax = 6;
const clientsMax = 40;

interface Client {
  readonly request: SubmitRequest;
  tries: number;
  done: boolean;
}

/** Those who submit: each wants one clip, and repeats under the same key until it has an answer; some more often than that. */
export class Clients {
  readonly #outside: Outside;
  readonly #fleet: Fleet;
  readonly #dice: Dice;
  readonly #addressDice: Dice;
  readonly #clients: Client[] = [];
  readonly #accepted = new Set<string>();
  readonly #activeMax: number;
  readonly #meanMs: number;

  constructor(outside: Outside, fleet: Fleet) {
    this.#outside = outside;
    this.#fleet = fleet;
    this.#dice = outside.dice.fork('clients');
    this.#addressDice = this.#dice.fork('addresses');
    this.#activeMax = this.#dice.whole(1, 14);
    this.#meanMs = this.#dice.spread(200, 60_000);
  }

  /** Ids of the jobs that somebody was told are taken in. */
  get accepted(): ReadonlySet<string> {
    return this.#accepted;
  }

  get done(): boolean {
    return this.#clients.every(({ done }) => done);
  }

  /** They go on coming while the weather is bad and few jobs are active: a history without jobs shows nothing. */
  start(): void {
    const { scheduler, store, weather } = this.#outside;
    scheduler.after(this.#dice.between(0, 2 * this.#meanMs), () => {
      if (weather.isCalm || this.#clients.length === clientsMax) return;
      const active = [...store.all.values()].filter(({ state }) => isActive(state)).length;
      if (active < this.#activeMax) this.#come();
      this.start();
    });
  }

  /** One more, who may send several times at the same moment, or later once more. */
  #come(): void {
    const { scheduler } = this.#outside;
    const client: Client = { request: this.#request(this.#clients.length), tries: 0, done: false };
    this.#clients.push(client);
    const copies = this.#dice.chance(0.2) ? this.#dice.whole(2, 5) : 1;
    for (let i = 0; i < copies; i++) scheduler.after(this.#dice.between(0, 50), () => this.#try(client));
    const laterMs = this.#dice.spread(1_000, 300_000);
    if (this.#dice.chance(0.2)) scheduler.after(laterMs, () => this.#try(client));
    if (this.#dice.chance(0.1)) scheduler.after(laterMs, () => this.#reuse(client));
  }

  #request(index: number): SubmitRequest {
    const model = this.#dice.chance(0.06)
      ? this.#dice.pick([refusedModel, deadlyModel, deadlyModel])
      : 'seedance-2-mini';
    return {
      owner: this.#dice.pick(owners),
      ...(this.#dice.chance(0.4) ? { priority: this.#dice.whole(0, 9) } : {}),
      account: 'sume',
      idempotencyKey: `clip-${index}`,
      input: { model, prompt: `a lighthouse, ${index}` },
      deadlineSeconds: this.#dice.pick([60, 90, 300, 3_600, 86_400]),
      metadata: {},
      ...(this.#outside.telling === null ? {} : ownAddress(this.#addressDice)),
    };
  }

  #try(client: Client): void {
    client.tries++;
    this.#send(client.request, (answered) => {
      client.done ||= answered || client.tries >= triesMax;
      if (!client.done) this.#outside.scheduler.after(this.#dice.spread(100, 20_000), () => this.#try(client));
    });
  }

  /** The same key for another clip: to be refused, whenever it comes. */
  #reuse({ request }: Client): void {
    this.#send({ ...request, input: { ...request.input, prompt: 'another' } }, () => {});
  }

  #send(request: SubmitRequest, then: (answered: boolean) => void): void {
    const { referee, scheduler } = this.#outside;
    const lambda = this.#fleet.start('api');
    let open = true;
    const end = (answered: boolean) => {
      if (open) then(answered);
      open = false;
    };
    const { ports } = new Doors(this.#outside, lambda);
    let handedOver = false;
    const [[account, queue]] = [...ports.queues] as [[string, Queue]];
    const schedule: typeof queue.dueSet.schedule = (entries) => {
      handedOver = true;
      return queue.dueSet.schedule(entries);
    };
    const enqueue: typeof queue.dueSet.enqueue = (entries) => {
      handedOver = true;
      return queue.dueSet.enqueue(entries);
    };
    const queues = new Map([[account, { ...queue, dueSet: { ...queue.dueSet, schedule, enqueue } }]]);
    submit({ ...ports, queues }, request).then(
      (result) => {
        referee.note(`${lambda.name} ${result.kind} ${result.job.id}`);
        if (!handedOver && result.kind === 'accepted' && needsCreate(result.job)) {
          referee.broken('what is accepted and unsent is handed to the set', result.job.id);
        }
        this.#judge(request, result.kind, result.job.id);
        end(true);
      },
      (error) => {
        if (!(error instanceof JobStoreError))
          referee.broken('a submit fails with a JobStoreError only', String(error));
        end(false);
      },
    );
    scheduler.after(patienceMs, () => {
      lambda.kill();
      end(false);
    });
  }

  #judge(request: SubmitRequest, kind: 'accepted' | 'conflict', id: string): void {
    const { referee, store } = this.#outside;
    const wanted = jobIdFor(request.owner, request.idempotencyKey);
    const stored = store.all.get(id);
    if (id !== wanted) referee.broken('one key is one job', `${id} instead of ${wanted}`);
    if (stored === undefined) referee.broken('what is accepted is recorded', id);
    const same = stored?.input.prompt === request.input.prompt;
    if (same !== (kind === 'accepted')) referee.broken('a key is taken by the first request', `${id} ${kind}`);
    if (kind === 'accepted') this.#accepted.add(id);
  }
}
