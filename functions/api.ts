import type { LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import { createApp } from '../lib/http/app.ts';
import { serveEvents } from '../lib/http/serve.ts';
import { oncePerProcess } from '../lib/once.ts';
import { wireApi } from '../lib/wire/api.ts';

const wired = oncePerProcess(async () => serveEvents(createApp(await wireApi(process.env))));

/** The HTTP API behind the gateway's catch-all route. */
export async function handler(event: LambdaEvent, context: LambdaContext) {
  const serve = await wired();
  return serve(event, context);
}
