import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

type Service = {
  service: string;
  configValidationMode: string;
  plugins: string[];
  provider: { environment: Record<string, string> } & Record<string, unknown>;
  functions: Record<string, { environment?: Record<string, string> } & Record<string, unknown>>;
  custom: Record<string, unknown>;
};

/**
 * serverless.yml, reduced to what the emulator plays: the same functions, routes, authorizer, schedules and timeouts, with
 * each handler taken from the unpacked bundle `<name>/index.mjs` in the folder that the result is written to.
 *
 * @param environment values that stand in place of those in serverless.yml. They are not written down: the emulator hands
 *   its own environment on, and what serverless.yml says would go before that, so those names are left out here.
 */
export async function readLocalService(environment: Record<string, string>): Promise<Service> {
  const text = await readFile(new URL('../../../serverless.yml', import.meta.url), 'utf8');
  // Quiet about CloudFormation's own tags: they stand under `resources`, which is not used.
  const service: Service = parse(text, { logLevel: 'silent', merge: true });
  const without = (values: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => environment[name] === undefined));
  const functions = Object.entries(service.functions).map(([name, definition]) => {
    const { package: _package, role: _role, reservedConcurrency: _reserved, ...rest } = definition;
    return [name, { ...rest, handler: `${name}/index.handler`, environment: without(definition.environment) }];
  });
  return {
    service: service.service,
    plugins: service.plugins,
    configValidationMode: 'off',
    provider: { ...service.provider, environment: without(service.provider.environment) },
    functions: Object.fromEntries(functions),
    custom: service.custom,
  };
}
