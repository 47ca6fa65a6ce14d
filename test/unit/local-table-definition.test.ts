import { readFileSync } from 'node:fs';
import type { TableDescription } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { differences, readTableDefinition } from '../../infra/local/dynamo/table-definition.ts';

const template = readFileSync('infra/table.yml', 'utf8');
const { input, extras } = readTableDefinition(template, 'jobs-x');

describe('infra/table.yml as calls to DynamoDB', () => {
  it('keeps keys, indexes, billing and protection, under the name asked for', () => {
    expect(input).toMatchObject({
      TableName: 'jobs-x',
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    });
    expect(input.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName)).toEqual(['by-owner', 'active', 'by-batch']);
  });

  it('leaves out what CreateTable does not take, and remembers it', () => {
    expect(Object.keys(input)).not.toContain('PointInTimeRecoverySpecification');
    expect(Object.keys(input)).not.toContain('TimeToLiveSpecification');
    expect(extras).toEqual({ pointInTimeRecovery: true, timeToLiveAttribute: 'expires_at' });
  });

  it('refuses a template without exactly one table', () => {
    expect(() => readTableDefinition('Resources: {}', 'x')).toThrow('holds 0 tables');
    expect(() => readTableDefinition('', 'x')).toThrow('holds 0 tables');
  });
});

describe('the shape of a table that is there', () => {
  const found = () => structuredClone(input) as TableDescription;

  it('is right when it is the one wanted, whatever the order of projected attributes', () => {
    expect(differences(input, found())).toEqual([]);
  });

  it('is told in words where it is another', () => {
    const table = found();
    table.GlobalSecondaryIndexes =
      table.GlobalSecondaryIndexes?.filter(({ IndexName }) => IndexName !== 'active') ?? [];
    const owner = table.GlobalSecondaryIndexes?.[0];
    if (owner) owner.Projection = { ProjectionType: 'KEYS_ONLY' };
    table.AttributeDefinitions = table.AttributeDefinitions?.map((one) =>
      one.AttributeName === 'created_at_ms' ? { ...one, AttributeType: 'S' } : one,
    );
    table.KeySchema = [{ AttributeName: 'pk', KeyType: 'HASH' }];
    expect(differences(input, table)).toEqual([
      'attribute created_at_ms is S, not N',
      'its key is pk HASH, not id HASH',
      'index by-owner is owner HASH + created_at_ms RANGE KEYS_ONLY, not owner HASH + created_at_ms RANGE INCLUDE state',
      'index active is missing',
    ]);
  });
});
