import type { CreateTableCommandInput, TableDescription } from '@aws-sdk/client-dynamodb';
import { parse } from 'yaml';

/** What a table asks for beyond CreateTable: calls of their own. */
export interface TableExtras {
  pointInTimeRecovery: boolean;
  /** Name of the attribute with the time, in seconds, after which an item may be deleted. */
  timeToLiveAttribute: string | undefined;
}

type Properties = Omit<CreateTableCommandInput, 'TableName'> & {
  PointInTimeRecoverySpecification?: { PointInTimeRecoveryEnabled?: boolean };
  TimeToLiveSpecification?: { AttributeName?: string; Enabled?: boolean };
};
type Template = { Resources?: Record<string, { Type?: string; Properties?: Properties }> };

/** Those of a template's properties that CreateTable takes in the same form. */
const sameInBoth = [
  'AttributeDefinitions',
  'KeySchema',
  'GlobalSecondaryIndexes',
  'LocalSecondaryIndexes',
  'BillingMode',
  'ProvisionedThroughput',
  'DeletionProtectionEnabled',
  'TableClass',
] as const;

/** Turns the one table of a CloudFormation template into calls to DynamoDB. Throws an error if there isn't one. */
export function readTableDefinition(
  template: string,
  tableName: string,
): { input: CreateTableCommandInput; extras: TableExtras } {
  // Quiet about CloudFormation's own tags, which stand where they don't matter here.
  const { Resources = {} } = (parse(template, { logLevel: 'silent' }) ?? {}) as Template;
  const tables = Object.values(Resources).filter((resource) => resource.Type === 'AWS::DynamoDB::Table');
  const properties = tables[0]?.Properties;
  if (tables.length !== 1 || properties === undefined) {
    throw new Error(
      `The template holds ${tables.length} tables (AWS::DynamoDB::Table); expected one, with Properties.`,
    );
  }
  const taken = Object.fromEntries(
    sameInBoth.flatMap((name) => (name in properties ? [[name, properties[name]]] : [])),
  );
  const ttl = properties.TimeToLiveSpecification;
  return {
    input: { ...taken, TableName: tableName } as CreateTableCommandInput,
    extras: {
      pointInTimeRecovery: properties.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled ?? false,
      timeToLiveAttribute: ttl?.Enabled === false ? undefined : ttl?.AttributeName,
    },
  };
}

/** What is different between the table that there is and the one wanted, in words; empty if nothing that matters. */
export function differences(wanted: CreateTableCommandInput, found: TableDescription): string[] {
  const lines: string[] = [];
  const types = new Map(
    found.AttributeDefinitions?.map((attribute) => [attribute.AttributeName, attribute.AttributeType]),
  );
  for (const { AttributeName, AttributeType } of wanted.AttributeDefinitions ?? []) {
    const type = types.get(AttributeName);
    if (type !== AttributeType) lines.push(`attribute ${AttributeName} is ${type ?? 'missing'}, not ${AttributeType}`);
  }
  if (keysOf(wanted) !== keysOf(found)) lines.push(`its key is ${keysOf(found)}, not ${keysOf(wanted)}`);
  for (const index of wanted.GlobalSecondaryIndexes ?? []) {
    const other = found.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index.IndexName);
    if (other === undefined) {
      lines.push(`index ${index.IndexName} is missing`);
    } else if (keysOf(index) !== keysOf(other) || projectionOf(index) !== projectionOf(other)) {
      lines.push(
        `index ${index.IndexName} is ${keysOf(other)} ${projectionOf(other)}, not ${keysOf(index)} ${projectionOf(index)}`,
      );
    }
  }
  return lines;
}

type Keyed = { KeySchema?: { AttributeName?: string | undefined; KeyType?: string | undefined }[] | undefined };
type Projected = {
  Projection?: { ProjectionType?: string | undefined; NonKeyAttributes?: string[] | undefined } | undefined;
};

function keysOf({ KeySchema = [] }: Keyed): string {
  return KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).join(' + ');
}

function projectionOf({ Projection }: Projected): string {
  return [Projection?.ProjectionType, ...[...(Projection?.NonKeyAttributes ?? [])].sort()].join(' ');
}
