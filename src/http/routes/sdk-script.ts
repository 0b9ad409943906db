import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { Router } from 'express';
import { once } from '../../domain/once.ts';
import { digest, etag, matchesEtag } from '../answer/etag.ts';
import { pick } from '../request/methods.ts';

interface Variant {
  readonly bytes: Buffer;
  readonly tag: string;
}

interface Script {
  readonly plain: Variant;
  readonly gzip: Variant;
}

/** One self-contained classic script, for browsers from 2020 on. The compiled service brings it ready-made. */
async function scriptText(): Promise<string> {
  if (import.meta.url.endsWith('.js'))
    return readFile(new URL('../../sdk/script.js', import.meta.url), 'utf8');
  const { sdkScript } = await import(new URL('../../../deploy/build/sdk-script.js', import.meta.url).href);
  return sdkScript();
}

async function load(): Promise<Script> {
  const text = await scriptText();
  return {
    plain: { bytes: Buffer.from(text), tag: etag(digest(text)) },
    // Its bytes differ, so its strong tag does too.
    gzip: { bytes: gzipSync(text, { level: 9 }), tag: etag(digest(text), '', 'gzip') },
  };
}

/**
 * Serves `GET /sdk.js`: the browser SDK, loaded at its first request and kept in memory. No authentication.
 */
export function sdkScriptRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const methods = new Map([['GET', once(load)]]);
  router.all('/sdk.js', async (req, res) => {
    const answer = pick(methods, req, res);
    const zipped = req.acceptsEncodings('gzip', 'identity') === 'gzip';
    const { plain, gzip } = await answer();
    const { bytes, tag } = zipped ? gzip : plain;
    res.setHeader('ETag', tag);
    res.setHeader('Cache-Control', 'public, max-age=3600');
    res.setHeader('Vary', 'Accept-Encoding');
    // Pages of every site load it, even isolated ones (Cross-Origin-Embedder-Policy).
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    // And pages that load it with `crossorigin`, for its integrity or its errors.
    res.setHeader('Access-Control-Allow-Origin', '*');
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
