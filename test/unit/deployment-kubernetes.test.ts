import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { readConfig, SETTINGS } from '../../src/config.ts';
import { SECRET_SETTINGS } from '../../src/start/secret-files.ts';

/* What can be checked of the manifests without a cluster. */

const MODELS = { ConfigMap, Deployment, NetworkPolicy, PodDisruptionBudget, Secret, Service, StatefulSet };
const LIBRARIES: Readonly<Record<keyof typeof MODELS, string>> = {
  ConfigMap: 'v1',
  Deployment: 'apps/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  Secret: 'v1',
  Service: 'v1',
  StatefulSet: 'apps/v1',
};

const Probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  periodSeconds: z.number(),
  timeoutSeconds: z.number(),
  failureThreshold: z.number(),
});
const Container = z.object({
  image: z.string(),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
  securityContext: z.unknown(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const Workload = z.object({
  spec: z.object({
    replicas: z.number(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        enableServiceLinks: z.boolean(),
        automountServiceAccountToken: z.boolean(),
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.unknown(),
        containers: z.array(Container).length(1),
        volumes: z.array(z.object({ name: z.string() })),
      }),
    }),
    volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })).default([]),
  }),
});
const Manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.enum(Object.keys(MODELS) as [keyof typeof MODELS]),
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  data: z.record(z.string(), z.string()).default({}),
  stringData: z.record(z.string(), z.string()).default({}),
});

const manifestsOf = (name: string): z.infer<typeof Manifest>[] => {
  const folder = join('deploy/kubernetes', name);
  return readdirSync(folder).flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8'), { strict: true }).map((document) => {
      expect(document.errors, file).toEqual([]);
      return Manifest.parse(document.toJS());
    }),
  );
};

const SERVER = manifestsOf('server');
const EMBEDDED = manifestsOf('embedded');
const PLACES = [
  ['server', SERVER],
  ['embedded', EMBEDDED],
] as const;

const only = <K extends keyof typeof MODELS>(manifests: typeof SERVER, kind: K) => {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  expect(found, kind).toHaveLength(1);
  return found[0] as (typeof SERVER)[number];
};
const workloadOf = (manifests: typeof SERVER) =>
  Workload.parse(manifests.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet'));
const containerOf = (manifests: typeof SERVER) =>
  workloadOf(manifests).spec.template.spec.containers[0] as z.infer<typeof Container>;

test.each(PLACES)('%s: every manifest keeps to its schema', (_, manifests) => {
  for (const { data, stringData, ...manifest } of manifests) {
    const whole = { ...manifest, ...(Object.keys(data).length > 0 ? { data } : {}) };
    const model = new MODELS[manifest.kind](whole as never);
    expect(() => model.validate(), manifest.kind).not.toThrow();
  }
});

test('and has no field that the schema does not know, which Kubernetes would ignore', () => {
  const file = join(import.meta.dirname, 'manifests.in-memory.ts');
  // A literal must not have further properties, at any depth.
  const line = (manifest: object & { readonly kind: keyof typeof MODELS }, i: number): string =>
    `export const m${i}: import('kubernetes-models/${LIBRARIES[manifest.kind]}/${manifest.kind}').I${manifest.kind} = ${JSON.stringify(manifest)};`;
  const problems = (manifests: readonly Parameters<typeof line>[0][]): string[] => {
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      module: ts.ModuleKind.NodeNext,
    };
    const host = ts.createCompilerHost(options);
    const { getSourceFile, fileExists } = host;
    const text = manifests.map(line).join('\n');
    host.fileExists = (path) => path === file || fileExists(path);
    host.getSourceFile = (path, ...more) =>
      path === file ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext) : getSourceFile(path, ...more);
    const program = ts.createProgram([file], options, host);
    return program
      .getSemanticDiagnostics()
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  };
  const raw = PLACES.flatMap(([, manifests]) => manifests).map(
    ({ data, stringData, ...manifest }) => manifest,
  );
  const wrong = JSON.parse(
    JSON.stringify(only(SERVER, 'Deployment')).replace('readinessProbe', 'readinesProbe'),
  );
  expect(problems([...raw, wrong])).toEqual([expect.stringMatching(/'"readinesProbe"' does not exist/)]);
});

describe.each(PLACES)('%s', (_, manifests) => {
  const { spec } = workloadOf(manifests);
  const pod = spec.template.spec;
  const container = containerOf(manifests);

  test('no privileges, and nothing of the cluster', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      // They would set MANAGEMENT_PORT to an address.
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const volumes = [...pod.volumes, ...spec.volumeClaimTemplates.map(({ metadata }) => metadata)];
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(
      volumes.map(({ name }) => name).sort(),
    );
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(
      expect.arrayContaining(['/data', '/tmp']),
    );
  });

  test('probes ask the public listener, and a slow start is no failure', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const http = container.ports.find(({ name }) => name === 'http');
    expect(http?.containerPort).toBe(readConfig({}).publicListener.port);
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      expect(probe.httpGet.port).toBe('http');
      // The service waits 3 s for the store.
      expect(probe.timeoutSeconds).toBeGreaterThan(3);
    }
    expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      '/readyz',
      '/healthz',
      '/readyz',
    ]);
    const { storeWaitSeconds } = readConfig({});
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThan(2 * storeWaitSeconds);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(45);
  });

  test('everything is about the same pods', () => {
    const labels = spec.template.metadata.labels;
    expect(spec.selector.matchLabels).toEqual(labels);
    for (const manifest of manifests) {
      expect(manifest.metadata).toMatchObject({ name: 'session-analytics', labels });
    }
    expect(only(manifests, 'Service')).toMatchObject({
      spec: { selector: labels, ports: [{ targetPort: 'http' }] },
    });
    expect(only(manifests, 'NetworkPolicy')).toMatchObject({
      spec: { podSelector: { matchLabels: labels } },
    });
    expect(container.envFrom).toEqual([
      { configMapRef: { name: only(manifests, 'ConfigMap').metadata.name } },
    ]);
  });

  test('the settings are known and right, and secrets are files', () => {
    const own = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
    const settings: Record<string, string> = { ...only(manifests, 'ConfigMap').data, ...own };
    const secrets = Object.keys(settings).filter((name) => name.endsWith('_FILE'));
    expect(Object.keys(settings).filter((name) => /PASSWORD$|SECRET$/.test(name))).toEqual([]);
    for (const name of secrets) {
      const setting = SECRET_SETTINGS.find((known) => `${known}_FILE` === name) ?? '';
      const file = /^\/run\/secrets\/session-analytics\/(\w+)$/.exec(settings[name] ?? '')?.[1] ?? '';
      expect(only(manifests, 'Secret').stringData).toHaveProperty(file);
      delete settings[name];
      settings[setting] = 'x'.repeat(32);
    }
    expect(Object.keys(settings).filter((name) => !SETTINGS.includes(name))).toEqual([]);
    expect(readConfig(settings)).toMatchObject({
      publicListener: { host: '0.0.0.0' },
      replicas: spec.replicas,
      store: { kind: manifests === SERVER ? 'server' : 'embedded' },
    });
  });
});

test('one process of several may be taken away at a time', () => {
  expect(workloadOf(SERVER).spec.replicas).toBeGreaterThan(1);
  expect(only(SERVER, 'PodDisruptionBudget')).toMatchObject({ spec: { maxUnavailable: 1 } });
  expect(EMBEDDED.some(({ kind }) => kind === 'PodDisruptionBudget')).toBe(false);
  expect(workloadOf(EMBEDDED).spec.replicas).toBe(1);
});
