import type { Hono } from 'hono';
import type { ApiEnv } from './app.ts';
import { Problem } from './problem.ts';

/** Answers every other method on these paths, each with its own ones, by 405. To be called once their routes are there. */
export function refuseOtherMethods(routes: Hono<ApiEnv>, methodsByPath: Readonly<Record<string, string>>): void {
  for (const [path, methods] of Object.entries(methodsByPath)) {
    routes.all(path, (context) => {
      context.header('Allow', methods);
      throw new Problem(405, 'method_not_allowed', `This path takes ${methods}.`, 'method');
    });
  }
}
