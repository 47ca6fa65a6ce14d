import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readDrainConfig } from '../../../lib/config.ts';

/** What is deployed, as far as it costs something, read from where it is decided. */
export interface Deployed {
  memoryGb: { api: number; authorize: number; drain: number; sweep: number };
  /** One run of the drain claims for so long, and one starts every minute. */
  windowSeconds: number;
  lanes: number;
  alarms: number;
}

interface ServerlessMap {
  functions: Record<keyof Deployed['memoryGb'], { memorySize: number }>;
}

interface AlarmResources {
  Resources: Record<string, { Type: string }>;
}

export function readDeployed(): Deployed {
  const { functions } = yamlOf<ServerlessMap>('serverless.yml');
  const { Resources } = yamlOf<AlarmResources>('infra/alarms.yml');
  const { windowMs, concurrency } = readDrainConfig({});
  const gb = (name: keyof Deployed['memoryGb']) => functions[name].memorySize / 1024;
  return {
    memoryGb: { api: gb('api'), authorize: gb('authorize'), drain: gb('drain'), sweep: gb('sweep') },
    windowSeconds: windowMs / 1000,
    lanes: concurrency,
    alarms: Object.values(Resources).filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm').length,
  };
}

function yamlOf<T>(path: string): T {
  const text = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  return parse(text, { logLevel: 'error' }) as T;
}
