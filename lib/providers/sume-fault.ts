import type { Fault } from '../job.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { HttpAnswer } from './http.ts';

/*
 * What went wrong, in a form that may be stored and shown: short codes, one bounded line of text, and never our API
 * key, even when an answer echoes it.
 */
export class SumeFaults {
  readonly #apiKey: string;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  /** A text from outside as one line without control characters, at most `max` characters. */
  clean(text: string, max = 500): string {
    const line = text.replaceAll(this.#apiKey, '[redacted]').replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
    return line.trim().slice(0, max);
  }

  of(code: string, message: string): Fault {
    return { code, message: this.clean(message) };
  }

  /** Of an answer that is an error: Sume's own envelope if it has one, else the status. */
  ofAnswer(answer: HttpAnswer, body: JsonObject | null): Fault {
    const code = `http_${answer.status}`;
    return this.#ofEnvelope(body, code) ?? { code, message: `HTTP ${answer.status}` };
  }

  /** Of an answer whose body is of no use. */
  ofNonsense(answer: HttpAnswer): Fault {
    const type = answer.headers['content-type'] ?? 'no content type';
    const message = `HTTP ${answer.status} with a body that can't be used (${type}, ${answer.text.length} characters).`;
    return this.of('invalid_answer', message);
  }

  /** Why a job failed, as its status document tells it. */
  ofStatus(document: JsonObject): Fault | undefined {
    const inside = isObject(document.data) ? document.data : null;
    return this.#ofEnvelope(document, 'provider_error') ?? this.#ofEnvelope(inside, 'provider_error');
  }

  #ofEnvelope(body: JsonObject | null, fallbackCode: string): Fault | undefined {
    const error = body?.error;
    if (body === null || !isObject(error)) return undefined;
    const given = typeof error.code === 'string' ? this.clean(error.code) : '';
    const code = /^[\w.-]{1,64}$/.test(given) ? given : fallbackCode;
    const message = this.clean(typeof error.message === 'string' ? error.message : code);
    if (typeof body.request_id !== 'string') return { code, message };
    return { code, message, providerRequestId: this.clean(body.request_id, 100) };
  }
}
