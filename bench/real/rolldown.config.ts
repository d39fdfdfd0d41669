import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { main: 'bench/real/main.ts' },
  platform: 'node',
  output: { dir: 'bench/out/real', format: 'esm', cleanDir: true },
})
