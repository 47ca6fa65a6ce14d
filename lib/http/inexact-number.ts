const numberPattern = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const textPattern = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** The first number in a JSON text that a double can't hold as written: too many digits, or out of range. */
export function inexactNumber(json: string): string | undefined {
  return json.replace(textPattern, '""').match(numberPattern)?.find(isInexact);
}

function isInexact(number: string): boolean {
  const value = Number(number);
  const whole = /^-?\d+$/.test(number);
  return !Number.isFinite(value) || (whole && value !== 0 && JSON.stringify(value) !== number);
}

/**
 * The same for each item of the list that the object in the JSON text has under `name`: the first such number by the item's
 * index, and by -1 one that is in none of them.
 */
export function inexactByItem(json: string, name: string): Map<number, string> {
  // Nearly always there is none, and this is a good deal faster than what follows.
  if (inexactNumber(json) === undefined) return new Map();
  let found = new Map<number, string>();
  let depth = 0;
  let key = '';
  let index = -1;
  let last = '';
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|-?\d[\d.eE+-]*/g)) {
    const inList = key === name && depth > 1;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token === ':' && depth === 1) {
      key = JSON.parse(last) as string;
      index = 0;
      // Of two lists under one name the last counts.
      if (key === name) found = new Map([...found].filter(([item]) => item === -1));
    } else if (token === ',' && inList && depth === 2) index++;
    else if (/^[-\d]/.test(token) && isInexact(token)) {
      const item = inList ? index : -1;
      if (!found.has(item)) found.set(item, token);
    }
    last = token;
  }
  return found;
}
