import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { main: 'bench/main.ts' },
  platform: 'node',
  output: { dir: 'bench/out', format: 'esm', cleanDir: true },
})
