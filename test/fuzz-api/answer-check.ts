import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type ApiDocument, type Route, routesAt, type Schema } from './document.ts';
import type { SentRequest } from './gateway-event.ts';

export interface GivenAnswer {
  statusCode: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Statuses that any request may be answered with, also where the document tells of no route. */
const general: ReadonlySet<number> = new Set([400, 401, 404, 405, 413, 429]);

/** Compares answers with what the document says of them. */
export class AnswerCheck {
  readonly #document: ApiDocument;
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<Schema, ValidateFunction>();

  constructor(document: ApiDocument) {
    this.#document = document;
    this.#ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document.whole, 'openapi');
  }

  /** Everything that is wrong with an answer's form, in words. */
  faults(request: SentRequest, answer: GivenAnswer): string[] {
    const { statusCode: status, headers } = answer;
    if (!Number.isInteger(status) || status < 200 || status > 599) return [`the status is ${status}`];
    const faults = status >= 500 ? [`status ${status}`] : [];
    if (headers['x-request-id'] !== request.id) faults.push(`X-Request-Id is ${headers['x-request-id']}`);
    const here = routesAt(this.#document, request.rawPath);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const routes = here.filter((route) => route.method === method);
    const isDocumented = routes.some((route) => route.answers.has(status));
    if (!isDocumented && !general.has(status)) faults.push(`status ${status} is not documented`);
    if (status === 405 && routes.length > 0) faults.push('status 405 for a method that is documented');
    if (request.method === 'HEAD') return answer.body === '' ? faults : [...faults, 'an answer to HEAD has a body'];
    return [...faults, ...this.#bodyFaults(request, answer, routes)];
  }

  #bodyFaults(
    request: SentRequest,
    { statusCode: status, headers, body }: GivenAnswer,
    routes: readonly Route[],
  ): string[] {
    if (status === 204 || status === 304) return body === '' ? [] : [`status ${status} has a body`];
    const type = headers['content-type']?.split(';')[0];
    const parsed = parse(body);
    if (parsed === undefined) return ['the body is not JSON'];
    const wanted = status >= 400 ? 'application/problem+json' : 'application/json';
    const faults = type === wanted ? [] : [`the content type is ${type}`];
    const documented = routes.flatMap((route) => route.answers.get(status) ?? []);
    const problem = this.#document.schemas.Problem;
    const schemas =
      documented.length > 0 ? documented.map(({ schema }) => schema) : problem === undefined ? [] : [problem];
    const complaints = schemas.map((schema) => this.#complaint(schema, parsed));
    if (!complaints.includes(null)) faults.push(`the body is not as documented: ${complaints[0]}`);
    if (status < 400) return faults;
    const { status: told, request_id: id } = parsed as { status?: unknown; request_id?: unknown };
    if (told !== status) faults.push(`the problem says status ${told}`);
    if (id !== request.id) faults.push(`the problem says request ${id}`);
    return faults;
  }

  /** Null when it fits. */
  #complaint(schema: Schema, value: unknown): string | null {
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(anchored(schema) as object);
      this.#validators.set(schema, validate);
    }
    if (validate(value)) return null;
    const { code } = (value ?? {}) as { code?: unknown };
    return `${this.#ajv.errorsText(validate.errors)}${typeof code === 'string' ? ` (${code})` : ''}`.slice(0, 300);
  }
}

/** The schema with its references reaching into the whole document from outside. */
function anchored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(anchored);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [name, `openapi${member}`] : [name, anchored(member)],
  );
  return Object.fromEntries(members);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
