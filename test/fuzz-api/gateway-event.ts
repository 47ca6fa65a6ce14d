import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Body } from './bodies.ts';

/** A request as a client would send it. */
export interface SentRequest {
  id: string;
  method: string;
  rawPath: string;
  rawQueryString: string;
  headers: Readonly<Record<string, string>>;
  body: Body | null;
}

const atMs = 1_800_000_000_000;

/** The event of an API Gateway's HTTP API, payload version 2.0, with what its authorizer has said. */
export function gatewayEvent(request: SentRequest, authorizer: Record<string, unknown>): APIGatewayProxyEventV2 {
  const { id, method, rawPath, rawQueryString, headers, body } = request;
  const http = { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'fuzz' };
  const event = {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    headers: { host: 'api.example', ...headers },
    requestContext: {
      ...{ accountId: '123456789012', apiId: 'api', domainName: 'api.example', domainPrefix: 'api', stage: '$default' },
      ...{ http, requestId: id, routeKey: '$default', time: new Date(atMs).toISOString(), timeEpoch: atMs },
      authorizer: { lambda: authorizer },
    },
    isBase64Encoded: body?.isBase64Encoded ?? false,
    ...(body === null ? {} : { body: body.text }),
  };
  return event as unknown as APIGatewayProxyEventV2;
}
