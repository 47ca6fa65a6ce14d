import { Hono } from 'hono';
import type { ApiEnv } from './app.ts';
import { refuseOtherMethods } from './other-methods.ts';

/** The API's own document, made beforehand: nothing of it is loaded until somebody asks. */
export function openapiRoute(): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/', async (context) => {
    const { openapi } = await import('./openapi.gen.ts');
    return context.body(openapi, 200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' });
  });

  refuseOtherMethods(routes, { '/': 'GET' });

  return routes;
}
