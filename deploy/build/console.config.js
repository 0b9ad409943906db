import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The service that `npm run dev:console` asks. */
const SERVICE = 'http://127.0.0.1:3000';

/** Builds the console's front end. */
export default defineConfig({
  root: `${ROOT}/src/console`,
  base: '/dashboard/',
  plugins: [react()],
  publicDir: false,
  server: { host: '127.0.0.1', proxy: { '^/dashboard/api/': SERVICE, '/sdk.js': SERVICE, '/sdk/': SERVICE } },
  build: {
    outDir: `${ROOT}/dist/console`,
    emptyOutDir: true,
    target: 'es2022',
    // The policy allows no data: addresses of scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licences.md' },
    reportCompressedSize: false,
  },
});
