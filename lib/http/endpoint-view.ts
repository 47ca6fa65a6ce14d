import { type Endpoint, isGood } from '../webhooks/endpoint.ts';
import { isoOrNull } from './iso.ts';

/** An endpoint as the API shows it, without its secrets. `events`: null where the usual ones are sent, or its jobs choose. */
export function endpointView(endpoint: Endpoint) {
  return {
    id: endpoint.id,
    kind: endpoint.kind,
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description,
    state: endpoint.state,
    disabled_by: endpoint.disabledBy ?? null,
    disabled_at: isoOrNull(endpoint.disabledAtMs),
    created_at: isoOrNull(endpoint.createdAtMs),
    updated_at: isoOrNull(endpoint.updatedAtMs),
    links: { self: `/v1/endpoints/${endpoint.id}`, list: '/v1/endpoints' },
  };
}

/** What signs at `nowMs`: the newest secret, and those that it has replaced. */
export function secretsView(endpoint: Endpoint, nowMs: number) {
  const [newest, ...older] = endpoint.secrets.filter((each) => isGood(each, nowMs));
  return {
    secret: newest?.secret ?? null,
    created_at: isoOrNull(newest?.createdAtMs),
    previous: older.map(({ secret, expiresAtMs }) => ({ secret, expires_at: isoOrNull(expiresAtMs) })),
  };
}
