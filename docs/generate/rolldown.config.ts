import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { main: 'docs/generate/main.ts', pictures: 'docs/generate/draw-pictures.ts' },
  platform: 'node',
  output: { dir: 'docs/generate/out', format: 'esm', cleanDir: true },
})
