import type { Job } from '../../lib/job.ts';
import { HttpClient } from '../../lib/providers/http.ts';
import { Sume } from '../../lib/providers/sume.ts';
import { testJob } from './dynamo.ts';
import { json, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

export const apiKey = 'sk_live_0123456789abcdef';

/** A job of ours that the provider calls `job_theirs`. */
export const sentJob: Job = testJob({ id: 'job_ours', providerJobId: 'job_theirs' });

/** The provider's own error document. */
export const envelope = (code: string, message: string) => ({
  error: { code, message, details: {} },
  request_id: 'req_77',
});

export const completed = json({ id: 'job_theirs', status: 'completed', terminal: true });

export interface ScriptedSume {
  server: ScriptedServer;
  sume: Sume;
  close(): Promise<void>;
}

/** The product's provider client, over real HTTP, in front of a server that follows a script. */
export async function startScriptedSume(totalMs: number): Promise<ScriptedSume> {
  const server = await startScriptedServer();
  const limits = { connectMs: 300, totalMs, bodyMax: 1_000_000 };
  const http = new HttpClient(server.url, 4, limits, () => performance.now());
  const sume = new Sume(http, { basePath: '', apiKey, keyPrefix: 'pollkeeper-test-' });
  return {
    server,
    sume,
    async close() {
      await http.close();
      await server.close();
    },
  };
}
