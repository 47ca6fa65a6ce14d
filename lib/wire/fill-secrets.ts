import type { Environment } from '../config.ts';
import { oncePerProcess } from '../once.ts';
import { withSecrets } from '../secrets.ts';

/** SSM's client is loaded only where a secret lies there. */
const reader = oncePerProcess(async () => (await import('../aws/ssm-parameters.ts')).ssmReader());

/** The environment with the wanted secrets in it, as they are now. */
export function fillSecrets(environment: Environment, wanted: string[]): Promise<Environment> {
  return withSecrets(environment, wanted, async (names) => (await reader())(names));
}
