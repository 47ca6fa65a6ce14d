import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFree } from './free-port.ts';

/** Ports that parts had last time, by the part's name. Media addresses and curl lines of an earlier run stay good with them. */
export interface KeptPorts {
  /** The port of the last run if it is free now, else 0 (any free one). */
  suggest(name: string): Promise<number>;
  keep(name: string, port: number): void;
}

export function openKeptPorts(dataDir: string): KeptPorts {
  const path = join(dataDir, 'ports.json');
  const ports = readPorts(path);
  return {
    suggest: async (name) => {
      const port = ports[name];
      return port !== undefined && (await isFree(port)) ? port : 0;
    },
    keep: (name, port) => {
      if (ports[name] === port) return;
      ports[name] = port;
      writeFileSync(path, `${JSON.stringify(ports, null, 2)}\n`);
    },
  };
}

function readPorts(path: string): Record<string, number> {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>);
    return Object.fromEntries(kept.filter((entry): entry is [string, number] => isPort(entry[1])));
  } catch {
    return {};
  }
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
}
