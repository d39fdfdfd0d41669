import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { main: 'bench/decide/main.ts' },
  platform: 'node',
  output: { dir: 'bench/out/decide', format: 'esm', cleanDir: true },
})
