import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { functionNames, zipBytesMax } from '../../infra/build.ts';
import { readAccounts } from '../../lib/accounts.ts';

type Resource = {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
};
type Template = { Resources: Record<string, Resource>; Conditions: Record<string, unknown> };
type Statement = { Effect: string; Action: string | string[]; Resource: unknown };

const run = promisify(execFile);
const stateBytesMax = 16 * 1024 * 1024;
let workDir: string;
let template: Template;

/** What a machine without any AWS set-up has; a wrong turn to the network or to a prompt ends at the test's deadline. */
function bareEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: workDir,
    npm_config_cache: process.env.npm_config_cache,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

function resource(id: string): Resource {
  const found = template.Resources[id];
  if (found === undefined) throw new Error(`No resource ${id} in ${Object.keys(template.Resources).join(', ')}`);
  return found;
}

function ofType(type: string): [string, Resource][] {
  return Object.entries(template.Resources).filter(([, one]) => one.Type === type);
}

const functionId = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}LambdaFunction`;
const zipPath = (name: string) => join('.build', `${name}.zip`);

beforeAll(async () => {
  workDir = await mkdtemp(join(tmpdir(), 'pollkeeper-package-'));
  await run('npm', ['run', 'package', '--', '--package', join(workDir, 'package')], {
    env: bareEnvironment(),
    timeout: 100_000,
  });
  template = JSON.parse(await readFile(join(workDir, 'package', 'cloudformation-template-update-stack.json'), 'utf8'));
}, 120_000);

afterAll(() => rm(workDir, { recursive: true, force: true }));

describe('npm run package, with no AWS account', () => {
  it('leaves one zip per function, each with nothing but code, and under 400 KB', async () => {
    for (const name of functionNames) {
      const zip = await readFile(zipPath(name));
      expect(zip.length, `${name}.zip`).toBeLessThan(zipBytesMax);
      const names = Object.keys(unzipSync(zip));
      expect(names, `${name}.zip`).toContain('index.mjs');
      expect(
        names.filter((file) => !/^[\w.-]+\.mjs$/.test(file)),
        `${name}.zip`,
      ).toEqual([]);
    }
  });

  it('describes exactly the functions that are built, on Node 24 and arm64', () => {
    const ids = ofType('AWS::Lambda::Function').map(([id]) => id);
    expect(ids.sort()).toEqual(functionNames.map(functionId).sort());
    for (const name of functionNames) {
      const { Properties } = resource(functionId(name));
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
      expect(JSON.stringify(Properties.Code)).toContain(`/${name}.zip`);
    }
    expect(ofType('AWS::Lambda::Version')).toEqual([]);
    const timeouts = functionNames.map((name) => resource(functionId(name)).Properties.Timeout);
    expect(timeouts).toEqual([29, 5, 90, 90, 120]);
  });

  it('T116 never replays a scheduled run that was killed or came late', () => {
    for (const name of ['Drain', 'Deliver', 'Sweep']) {
      expect(resource(`${name}LambdaEvConf`).Properties).toMatchObject({
        FunctionName: { Ref: `${name}LambdaFunction` },
        MaximumRetryAttempts: 0,
        MaximumEventAgeInSeconds: 60,
      });
      expect(resource(`${name}EventsRuleSchedule1`).Properties.Targets).toEqual([
        {
          Id: name.toLowerCase(),
          Arn: { 'Fn::GetAtt': [`${name}LambdaFunction`, 'Arn'] },
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
        },
      ]);
    }
    expect(resource('DrainEventsRuleSchedule1').Properties.ScheduleExpression).toBe('rate(1 minute)');
    expect(resource('DeliverEventsRuleSchedule1').Properties.ScheduleExpression).toBe('rate(1 minute)');
    expect(resource('SweepEventsRuleSchedule1').Properties.ScheduleExpression).toBe('rate(5 minutes)');
  });

  it('T120 keeps the table when the stack is removed or the table would be replaced', () => {
    const table = resource('JobsTable');
    expect(table.DeletionPolicy).toBe('Retain');
    expect(table.UpdateReplacePolicy).toBe('Retain');
    expect(table.Properties).toMatchObject({
      TableName: 'pollkeeper-dev',
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    });
    const indexes = table.Properties.GlobalSecondaryIndexes as { IndexName: string }[];
    expect(indexes.map((index) => index.IndexName)).toEqual(['by-owner', 'active', 'by-batch']);
  });

  it('T124 reserves no concurrency unless asked to', () => {
    for (const name of functionNames) {
      expect(resource(functionId(name)).Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });

  it('gives every function a role of its own, with no wildcard in what it may do or touch but the provider’s keys', () => {
    const roles = functionNames.map((name) => {
      const role = resource(functionId(name)).Properties.Role as { 'Fn::GetAtt': [string, string] };
      return role['Fn::GetAtt'][0];
    });
    expect(new Set(roles).size).toBe(functionNames.length);
    expect(ofType('AWS::IAM::Role').map(([id]) => id)).toEqual(expect.arrayContaining(roles));
    expect(ofType('AWS::IAM::Role')).toHaveLength(functionNames.length);
    const wildcards = roles.flatMap((id) =>
      statementsOf(id).flatMap(({ Action, Resource }) =>
        [Action, Resource].flat().flatMap((part) => (JSON.stringify(part).includes('*') ? [[id, Action, part]] : [])),
      ),
    );
    const keysOf = (role: string, name: string) => [
      role,
      'ssm:GetParameters',
      { 'Fn::Sub': expect.stringContaining(`:parameter/pollkeeper/dev/${name}-*`) },
    ];
    expect(wildcards).toEqual([
      keysOf('ApiRole', 'sume-webhook-secret'),
      keysOf('DrainRole', 'sume-api-key'),
      keysOf('DrainRole', 'sume-webhook-secret'),
    ]);
    for (const id of roles) expect(resource(id).Properties).not.toHaveProperty('ManagedPolicyArns');
  });

  it('lets each function do only what it does', () => {
    const allowed = (id: string) => new Set(statementsOf(id).flatMap((statement) => statement.Action));
    const logs = ['logs:CreateLogStream', 'logs:PutLogEvents'];
    expect(allowed('AuthorizeRole')).toEqual(new Set([...logs, 'ssm:GetParameters']));
    expect(allowed('ApiRole')).toEqual(
      new Set([
        ...logs,
        'ssm:GetParameters',
        ...table('PutItem', 'GetItem', 'BatchGetItem', 'UpdateItem', 'DeleteItem', 'Query'),
        'lambda:InvokeFunction',
      ]),
    );
    expect(allowed('DrainRole')).toEqual(
      new Set([
        ...logs,
        'ssm:GetParameters',
        ...table('GetItem', 'BatchGetItem', 'UpdateItem', 'Query'),
        'lambda:InvokeFunction',
      ]),
    );
    // No call of Lambda's: it is always the one who is woken.
    expect(allowed('DeliverRole')).toEqual(
      new Set([...logs, 'ssm:GetParameters', ...table('PutItem', 'GetItem', 'BatchGetItem', 'UpdateItem', 'Query')]),
    );
    const bus = template.Resources.DeliverBusPolicy as Resource & { Condition: string };
    expect([bus.Condition, template.Conditions.HasEventBus]).toEqual([
      'HasEventBus',
      { 'Fn::Not': [{ 'Fn::Equals': ['', ''] }] },
    ]);
    expect(JSON.stringify(bus.Properties)).toContain('"Action":"events:PutEvents"');
    expect(allowed('SweepRole')).toEqual(
      new Set([...logs, 'ssm:GetParameters', ...table('GetItem', 'BatchGetItem', 'Query'), 'lambda:InvokeFunction']),
    );
    const secretsOf = (id: string) =>
      [...JSON.stringify(statementsOf(id)).matchAll(/\/pollkeeper\/dev\/([a-z-]+)/g)].map((match) => match[1]);
    expect(secretsOf('AuthorizeRole')).toEqual(['api-tokens']);
    const redis = ['upstash-redis-rest-url', 'upstash-redis-rest-token'];
    const hooks = ['sume-webhook-secret', 'sume-webhook-secret-'];
    expect(secretsOf('DrainRole')).toEqual(['sume-api-key', 'sume-api-key-', ...hooks, ...redis]);
    expect(secretsOf('ApiRole').sort()).toEqual([...hooks, ...redis].sort());
    expect(secretsOf('DeliverRole')).toEqual(redis);
    expect(secretsOf('SweepRole')).toEqual(redis);
  });

  it('puts no secret into the template', () => {
    for (const name of functionNames) {
      const { Variables } = resource(functionId(name)).Properties.Environment as { Variables: Record<string, string> };
      for (const [variable, value] of Object.entries(Variables)) {
        expect(variable).not.toMatch(/key|token|secret(?!s_prefix)|password/i);
        expect(value, variable).toMatch(
          /^(dev|pollkeeper-dev(-drain|-deliver)?|\/pollkeeper\/dev|https:\/\/api\.sume\.com|\[\{"id":"sume"\}\])?$/,
        );
      }
    }
  });

  it('gives the functions the account that Sume has, on its own limits, unless told otherwise', () => {
    for (const name of ['api', 'drain', 'deliver', 'sweep']) {
      const { Variables } = resource(functionId(name)).Properties.Environment as { Variables: Record<string, string> };
      expect(Variables, name).toMatchObject({ PRICES: '', SPENDING_CAPS: '', ADAPTIVE_FIRST_READ: '' });
      expect(readAccounts(Variables.ACCOUNTS), name).toMatchObject([{ id: 'sume', limits: { maxInFlight: 24 } }]);
    }
  });

  it('asks the authorizer about every request, also one that carries no token', () => {
    expect(resource('HttpApiAuthorizerIdentify').Properties).toMatchObject({
      AuthorizerType: 'REQUEST',
      IdentitySource: [],
      AuthorizerResultTtlInSeconds: 0,
      EnableSimpleResponses: true,
      AuthorizerPayloadFormatVersion: '2.0',
    });
    const routes = ofType('AWS::ApiGatewayV2::Route').map(([, route]) => route.Properties);
    expect(routes).toHaveLength(1);
    expect(routes[0]).toMatchObject({ RouteKey: '$default', AuthorizationType: 'CUSTOM' });
  });

  it('watches the drain, the sweep, the due lag and the deliveries', () => {
    const alarms = ofType('AWS::CloudWatch::Alarm').map(([id]) => id);
    expect(alarms).toEqual(
      expect.arrayContaining([
        'DrainErrorsAlarm',
        'DrainSilentAlarm',
        'DrainThrottlesAlarm',
        'DueLagAlarm',
        'SweepErrorsAlarm',
        'DeliverErrorsAlarm',
        'DeadDeliveriesAlarm',
      ]),
    );
    for (const name of ['Api', 'Authorize', 'Drain', 'Deliver', 'Sweep']) {
      expect(resource(`${name}LogGroup`).Properties.RetentionInDays).toBe(14);
    }
  });
});

describe('the zips', () => {
  const importAll = `
    for (const name of ${JSON.stringify(functionNames)}) {
      const { handler } = await import('./' + name + '/index.mjs');
      console.log(name, typeof handler);
    }`;
  const expected = functionNames.map((name) => `${name} function\n`).join('');
  let bareDir: string;

  beforeAll(async () => {
    bareDir = await mkdtemp(join(tmpdir(), 'pollkeeper-bare-'));
    await writeFile(join(bareDir, 'import-all.mjs'), importAll);
    for (const name of functionNames) {
      await mkdir(join(bareDir, name));
      for (const [file, contents] of Object.entries(unzipSync(await readFile(zipPath(name))))) {
        await writeFile(join(bareDir, name, file), contents);
      }
    }
  });

  afterAll(() => rm(bareDir, { recursive: true, force: true }));

  it('T119 export a handler in a folder with nothing else, on the Node that runs this test', async () => {
    const { stdout } = await run(process.execPath, ['import-all.mjs'], { cwd: bareDir, env: {} });
    expect(stdout).toBe(expected);
  });

  it.each(['22', '24'])(
    'T119 export a handler on Node %s',
    async (version) => {
      const command = ['--yes', '--package', `node@${version}`, 'node', '-e'];
      const script = `console.error(process.version); import('./import-all.mjs')`;
      const options = { cwd: bareDir, timeout: 110_000, maxBuffer: stateBytesMax };
      const { stdout, stderr } = await run('npx', [...command, script], options);
      expect(stderr).toContain(`v${version}.`);
      expect(stdout).toBe(expected);
    },
    120_000,
  );
});

function table(...actions: string[]): string[] {
  return actions.map((action) => `dynamodb:${action}`);
}

function statementsOf(roleId: string): Statement[] {
  const policies = resource(roleId).Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[];
  return policies.flatMap((policy) => policy.PolicyDocument.Statement);
}
