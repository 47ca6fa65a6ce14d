import type { GivenAnswer } from './answer-check.ts';
import type { SentRequest } from './gateway-event.ts';

const endpointSecret = /whsec_[A-Za-z0-9+/]{20}/;

/** Where secrets are that must be nowhere: the service's, the one that came with the request, and endpoints'. */
export function secretFaults(
  { rawPath, headers }: SentRequest,
  answer: GivenAnswer,
  logged: string,
  serviceSecrets: readonly string[],
): string[] {
  const sent = headers.authorization ?? '';
  const secrets = sent.length > 12 ? [...serviceSecrets, sent] : serviceSecrets;
  const told = `${JSON.stringify(answer.headers)}${answer.body}`;
  // An endpoint's is told where it is asked for; the document has one as an example.
  const mayTell = /^\/(v1\/endpoints|openapi\.json)/.test(rawPath) && answer.statusCode < 300;
  return [
    ...(secrets.some((secret) => told.includes(secret)) ? ['a secret is in the answer'] : []),
    ...(secrets.some((secret) => logged.includes(secret)) ? ['a secret is in the log'] : []),
    ...(!mayTell && endpointSecret.test(told) ? ['an endpoint’s secret is in the answer'] : []),
    ...(endpointSecret.test(logged) ? ['an endpoint’s secret is in the log'] : []),
  ];
}
