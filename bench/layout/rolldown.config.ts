import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { main: 'bench/layout/main.ts' },
  platform: 'node',
  output: { dir: 'bench/out/layout', format: 'esm', cleanDir: true },
})
