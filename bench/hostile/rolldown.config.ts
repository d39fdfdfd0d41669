import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { main: 'bench/hostile/main.ts' },
  platform: 'node',
  output: { dir: 'bench/out/hostile', format: 'esm', cleanDir: true },
})
