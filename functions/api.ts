import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import { createApp } from '../lib/http/app.ts';
import { oncePerProcess } from '../lib/once.ts';
import { wireApi } from '../lib/wire/api.ts';

const wired = oncePerProcess(async () => handle(createApp(await wireApi(process.env))));

/** The HTTP API behind the gateway's catch-all route. */
export async function handler(event: LambdaEvent, context: LambdaContext) {
  const serve = await wired();
  return serve(event, context);
}
