import { type Environment, secretParameter } from './config.ts';

/** The one call made of SSM: values by full parameter name; a name that does not exist is left out. */
export type ReadParameters = (names: string[]) => Promise<Record<string, string>>;

/**
 * The environment with the named secrets filled in. One that is set as a plain variable stays (local runs); the
 * others are read from SSM under SECRETS_PREFIX, once, in one call. What is still missing afterwards is for the
 * config readers to name.
 */
export async function withSecrets(
  environment: Environment,
  wanted: readonly string[],
  read: ReadParameters,
): Promise<Environment> {
  const prefix = environment.SECRETS_PREFIX?.replace(/\/+$/, '');
  const missing = wanted.filter((name) => (environment[name] ?? '') === '');
  if (prefix === undefined || prefix === '' || missing.length === 0) return environment;
  const nameOf = (name: string) => `${prefix}/${secretParameter(name)}`;
  const values = await read(missing.map(nameOf));
  return { ...environment, ...Object.fromEntries(missing.map((name) => [name, values[nameOf(name)]])) };
}
