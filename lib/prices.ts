import { ConfigError } from './errors.ts';
import { isObject, type JsonObject } from './json.ts';

/** What one second of a clip costs, in millionths of a US dollar. */
export interface Price {
  model: string;
  /** Absent: any resolution, and also a job that names none. */
  resolution?: string;
  usdMicrosPerSecond: number;
}

/** Sume's price page: seedance-2-mini at 720p is $1.89 for 10 s, linear in the duration. */
export const builtInPrices: readonly Price[] = [
  { model: 'seedance-2-mini', resolution: '720p', usdMicrosPerSecond: 189_000 },
];

const fields = ['model', 'resolution', 'usd_per_second'];
const usdPerSecondMax = 1_000;
const example = '[{"model":"seedance-2-mini","resolution":"720p","usd_per_second":0.189}]';

/**
 * What a job will cost, in whole millionths of a US dollar. The first price that fits counts. Null when none does, or the
 * input has no duration: what the provider would take for a field that is left out is not known to us.
 */
export function estimateMicros(input: JsonObject, prices: readonly Price[]): number | null {
  const { model, resolution, duration } = input;
  if (typeof duration !== 'number' || !(duration > 0)) return null;
  const fits = (price: Price) =>
    price.model === model && (price.resolution === undefined || price.resolution === resolution);
  const micros = Math.round((prices.find(fits)?.usdMicrosPerSecond ?? Number.NaN) * duration);
  return Number.isSafeInteger(micros) ? micros : null;
}

/**
 * What PRICES says, before the built-in prices; of two for one model, the one with a resolution first. Throws a ConfigError
 * that names the entry and the field.
 */
export function readPrices(text: string | undefined): Price[] {
  if (text === undefined || text.trim() === '') return [...builtInPrices];
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw new ConfigError(`PRICES is not JSON; expected ${example}`);
  }
  if (!Array.isArray(entries)) throw new ConfigError(`PRICES is not a list; expected ${example}`);
  const own = entries.map(readPrice);
  for (const [index, { model, resolution }] of own.entries()) {
    const first = own.findIndex((other) => other.model === model && other.resolution === resolution);
    if (first !== index) {
      const what = `${model.slice(0, 40)} at ${resolution?.slice(0, 40) ?? 'any resolution'}`;
      throw new ConfigError(`PRICES has two entries, ${first + 1} and ${index + 1}, for ${what}.`);
    }
  }
  const isGeneral = ({ resolution }: Price) => resolution === undefined;
  return [...own.filter((price) => !isGeneral(price)), ...own.filter(isGeneral), ...builtInPrices];
}

function readPrice(entry: unknown, index: number): Price {
  const given = isObject(entry) ? entry : {};
  const { model, resolution, usd_per_second: usdPerSecond } = given;
  const name = typeof model === 'string' && model !== '' ? `${index + 1} (${model.slice(0, 40)})` : index + 1;
  const demand = (holds: boolean, field: string, expected: string) => {
    if (!holds) throw new ConfigError(`PRICES entry ${name}: ${field} must be ${expected}; expected ${example}`);
  };
  const unknown = Object.keys(given).find((field) => !fields.includes(field));
  demand(unknown === undefined, unknown?.slice(0, 40) ?? '', `left out: the fields are ${fields.join(', ')}`);
  demand(isText(model, 200), 'model', "a model's name");
  demand(
    resolution === undefined || isText(resolution, 50),
    'resolution',
    'a text such as "720p", or left out for any',
  );
  const isPrice = typeof usdPerSecond === 'number' && usdPerSecond > 0 && usdPerSecond <= usdPerSecondMax;
  demand(isPrice, 'usd_per_second', `a number of US dollars above 0, up to ${usdPerSecondMax}`);
  return {
    model: model as string,
    ...(resolution === undefined ? {} : { resolution: resolution as string }),
    usdMicrosPerSecond: (usdPerSecond as number) * 1e6,
  };
}

function isText(value: unknown, lengthMax: number): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= lengthMax;
}
