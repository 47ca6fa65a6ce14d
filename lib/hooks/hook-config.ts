import type { Account } from '../accounts.ts';
import type { Environment } from '../config.ts';
import { ConfigError } from '../errors.ts';
import type { Job } from '../job.ts';

/*
 * Whether the provider is asked to tell us of the ends of renders itself. It is for an account whose signing secret is
 * there, once PUBLIC_URL says where this API is reached from outside.
 */

export interface HookConfig {
  /** Origin of this API, without a slash at its end. */
  publicUrl: string;
  /** Signing secrets by account id, one or two each. An account that is not here gets no word of the provider. */
  secrets: ReadonlyMap<string, readonly string[]>;
}

/** Two while one is being exchanged for the other. */
const secretsMax = 2;
const secretLengthMin = 8;
const exampleUrl = 'https://abc123.execute-api.us-east-1.amazonaws.com';

/** The environment variable of an account's signing secret: SUME_WEBHOOK_SECRET beside SUME_API_KEY, with the same ending. */
export function hookSecretVariable({ keyVariable }: Pick<Account, 'keyVariable'>): string {
  return keyVariable.replace(/^SUME_API_KEY/, 'SUME_WEBHOOK_SECRET');
}

/** The secrets to be looked up before the config is read; each of them may be missing. */
export function wantedHookSecrets(environment: Environment, accounts: readonly Account[]): string[] {
  return isSet(environment.PUBLIC_URL) ? accounts.map(hookSecretVariable) : [];
}

/** Null when no account has hooks. Secrets are expected to be filled in. Throws a ConfigError that names the variable. */
export function readHookConfig(environment: Environment, accounts: readonly Account[]): HookConfig | null {
  if (!isSet(environment.PUBLIC_URL)) return null;
  const publicUrl = readPublicUrl(environment);
  const secrets = new Map<string, readonly string[]>();
  for (const account of accounts) {
    const variable = hookSecretVariable(account);
    const text = environment[variable];
    if (isSet(text)) secrets.set(account.id, readSecrets(variable, text));
  }
  return secrets.size === 0 ? null : { publicUrl, secrets };
}

/**
 * Where the provider is to tell the job's end; undefined when it is not asked to: hooks are off for the account, the caller has
 * put an address of their own into the input, or somebody else has made the job.
 */
export function hookUrlFor(config: HookConfig | null, job: Pick<Job, 'id' | 'account' | 'input' | 'adopted'>) {
  const isOff = config === null || !config.secrets.has(job.account);
  if (isOff || job.adopted === true || Object.hasOwn(job.input, 'webhook_url')) return undefined;
  return `${config.publicUrl}/v1/hooks/sume?job=${job.id}`;
}

function readPublicUrl({ PUBLIC_URL = '', DYNAMODB_ENDPOINT }: Environment): string {
  const url = URL.canParse(PUBLIC_URL.trim()) ? new URL(PUBLIC_URL.trim()) : null;
  // The provider calls nothing else; a simulator of it on this machine may.
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isSet(DYNAMODB_ENDPOINT));
  if (url === null || !isAllowed || `${url.origin}/` !== url.href) {
    throw new ConfigError(`PUBLIC_URL must be the https origin of this API, without a path; expected ${exampleUrl}`);
  }
  return url.origin;
}

function readSecrets(variable: string, text: string): string[] {
  const secrets = text.trim().split(/[\s,]+/);
  const areUsable = secrets.every((secret) => /^[\x21-\x7e]+$/.test(secret) && secret.length >= secretLengthMin);
  if (areUsable && secrets.length <= secretsMax) return secrets;
  // The value itself never goes into a message.
  throw new ConfigError(
    `${variable} must be one signing secret of ${secretLengthMin} characters or more, or two with a comma between.`,
  );
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}
