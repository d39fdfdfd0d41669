import { chmodSync, writeFileSync } from 'node:fs'
import { defineConfig } from 'rolldown'
import { specJsonSchemaText } from './src/spec/json-schema.ts'

/** `npm run build` writes everything that is generated and committed: dist and the spec's JSON Schema. */
export default defineConfig({
  input: { cli: 'src/cli/main.ts', index: 'src/index.ts' },
  platform: 'node',
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared.js',
    cleanDir: true,
  },
  plugins: [
    {
      name: 'spec-schema',
      writeBundle: () => writeFileSync('schema/spec.schema.json', specJsonSchemaText()),
    },
    {
      // npm links a clone's program and would make it executable itself, a local change that stops the next git pull.
      name: 'executable',
      writeBundle: () => chmodSync('dist/cli.js', 0o755),
    },
  ],
})
