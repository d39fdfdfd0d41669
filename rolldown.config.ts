import { defineConfig } from 'rolldown'

export default defineConfig({
  input: { cli: 'src/cli/main.ts', index: 'src/index.ts' },
  platform: 'node',
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    cleanDir: true,
    minify: false,
  },
})
