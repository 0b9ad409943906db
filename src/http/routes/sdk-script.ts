import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { Router } from 'express';
import { digest, etag, matchesEtag } from '../answer/etag.ts';
import { pick } from '../request/methods.ts';

const ENTRY = fileURLToPath(new URL('../../sdk/script.ts', import.meta.url));

interface Variant {
  readonly bytes: Buffer;
  readonly tag: string;
}

interface Script {
  readonly plain: Variant;
  readonly gzip: Variant;
}

/** Bundles the SDK into one self-contained classic script, for browsers from 2020 on. */
async function bundle(): Promise<Script> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2020',
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  });
  const text = outputFiles.map((file) => file.text).join('');
  return {
    plain: { bytes: Buffer.from(text), tag: etag(digest(text)) },
    // Its bytes differ, so its strong tag does too.
    gzip: { bytes: gzipSync(text, { level: 9 }), tag: etag(digest(text), '', 'gzip') },
  };
}

/**
 * Serves `GET /sdk.js`: the browser SDK, bundled at its first request and kept in memory. No authentication.
 */
export function sdkScriptRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  let script: Promise<Script> | undefined;
  const loaded = (): Promise<Script> => {
    script ??= bundle().catch((error: unknown) => {
      script = undefined;
      throw error;
    });
    return script;
  };
  const methods = new Map([['GET', loaded]]);
  router.all('/sdk.js', async (req, res) => {
    const load = pick(methods, req, res);
    const zipped = req.acceptsEncodings('gzip', 'identity') === 'gzip';
    const { plain, gzip } = await load();
    const { bytes, tag } = zipped ? gzip : plain;
    res.setHeader('ETag', tag);
    res.setHeader('Cache-Control', 'public, max-age=3600');
    res.setHeader('Vary', 'Accept-Encoding');
    // Pages of every site load it, even isolated ones (Cross-Origin-Embedder-Policy).
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (matchesEtag(req.headers['if-none-match'], tag)) {
      res.status(304).end();
      return;
    }
    if (zipped) res.setHeader('Content-Encoding', 'gzip');
    res.setHeader('Content-Type', 'text/javascript; charset=utf-8');
    res.setHeader('Content-Length', bytes.length);
    res.end(req.method === 'HEAD' ? undefined : bytes);
  });
  return router;
}
