import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

/* What can be checked of docker-compose.cluster.yml and its configuration without a Docker engine. */

const Service = z.object({
  image: z.string().default(''),
  user: z.string().default(''),
  extends: z.object({ file: z.string(), service: z.string() }).optional(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  secrets: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  mem_limit: z.string().default(''),
  pids_limit: z.number().default(0),
});
const Compose = z.object({
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  volumes: z.record(z.string(), z.null()),
});
const read = (path: string) => Compose.partial().parse(parse(readFileSync(path, 'utf8'), { merge: true }));
const single = read('docker-compose.yml');
const cluster = read('docker-compose.cluster.yml');
const services = cluster.services ?? {};
const named = (pattern: RegExp) => Object.entries(services).filter(([name]) => pattern.test(name));
const nodes = named(/^clickhouse-/);
const keepers = named(/^keeper-/);
const xml = (path: string): string => readFileSync(path, 'utf8');
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, one]) => one ?? '');

describe('docker-compose.cluster.yml', () => {
  test('the API, its proxy and Redis are those of docker-compose.yml', () => {
    for (const name of ['api-1', 'api-2', 'proxy', 'redis']) {
      expect(services[name]?.extends).toEqual({ file: 'docker-compose.yml', service: name });
      expect(single.services?.[name]).toBeDefined();
    }
    const own = { CLICKHOUSE_URL: 'http://proxy:8123', CLICKHOUSE_CLUSTER: 'analytics' };
    for (const api of ['api-1', 'api-2']) expect(services[api]?.environment).toEqual(own);
  });

  test('two shards have two replicas each, and every node knows all of them', () => {
    const names = nodes.map(([name]) => name);
    expect(names).toEqual(['clickhouse-1a', 'clickhouse-1b', 'clickhouse-2a', 'clickhouse-2b']);
    const shards = xml('clickhouse/cluster/nodes.xml').split('<shard>').slice(1);
    expect(shards.map((shard) => found(shard, /<replica><host>([\w-]+)</g))).toEqual([
      names.slice(0, 2),
      names.slice(2),
    ]);
    for (const shard of shards) expect(shard).toContain('<internal_replication>true</internal_replication>');
    expect(xml('clickhouse/cluster/nodes.xml')).not.toContain('<weight>');
    for (const [name, { environment, volumes }] of nodes) {
      expect(`clickhouse-${environment['SHARD']}${environment['REPLICA']}`).toBe(name);
      expect(volumes).toContain(
        './clickhouse/cluster/nodes.xml:/etc/clickhouse-server/config.d/nodes.xml:ro',
      );
    }
  });

  test('three keepers know each other, and every node knows them', () => {
    const names = keepers.map(([name]) => name);
    expect(names).toEqual(['keeper-1', 'keeper-2', 'keeper-3']);
    const config = xml('clickhouse/cluster/keeper.xml');
    expect(found(config, /<hostname>([\w-]+)</g)).toEqual(names);
    expect(keepers.map(([, { environment }]) => environment['KEEPER_ID'])).toEqual(
      found(config, /<id>(\d)</g),
    );
    const [port] = found(config, /<tcp_port>(\d+)</g);
    const known = found(xml('clickhouse/cluster/nodes.xml'), /<node><host>([\w-]+)</g);
    expect(known).toEqual(names);
    expect(new Set(found(xml('clickhouse/cluster/nodes.xml'), /<node>.*<port>(\d+)</g))).toEqual(
      new Set([port]),
    );
  });

  test('statements reach the replicas of the first shard alone, which hold accounts and keys', () => {
    const config = xml('deploy/compose/haproxy-clickhouse.cfg');
    expect(found(config, /^ {4}server (\S+) /gm)).toEqual(['clickhouse-1a', 'clickhouse-1b']);
    const path = './deploy/compose/haproxy-clickhouse.cfg:/usr/local/etc/haproxy/clickhouse.cfg:ro';
    expect(services['proxy']?.volumes).toEqual([path]);
    expect(services['proxy']?.command.filter((word) => word.endsWith('.cfg'))).toEqual([
      '/usr/local/etc/haproxy/haproxy.cfg',
      '/usr/local/etc/haproxy/clickhouse.cfg',
    ]);
  });

  test.each([...nodes, ...keepers])('%s: no privileges, bounded memory and processes', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      user: '101:101',
      ports: [],
    });
    expect(service.mem_limit).toMatch(/^\d+m$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    const [, version] = service.image.split(':');
    expect(single.services?.['clickhouse']?.image).toBe(`clickhouse/clickhouse-server:${version}`);
    for (const volume of service.volumes) {
      const [from = ''] = volume.split(':');
      if (from.startsWith('.')) expect(existsSync(from), from).toBe(true);
      else expect(cluster.volumes).toHaveProperty(from);
    }
    for (const secret of service.secrets) {
      expect(cluster.secrets?.[secret]).toEqual({ file: `\${SECRETS_DIR:-./secrets}/${secret}` });
    }
  });
});
