import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { main: 'docs/generate/main.ts' },
  platform: 'node',
  output: { dir: 'docs/generate/out', format: 'esm', cleanDir: true },
})
