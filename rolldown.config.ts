import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type OutputOptions, type TreeshakingOptions } from 'rolldown'
import { licensesOfBundled } from './rolldown.licenses.ts'
import { renderSpecJsonSchema } from './src/spec/json-schema.ts'

/** Says what a chunk holds: its only module, else the package or the room that most of its modules come from. */
function nameChunk(moduleIds: readonly string[]): string {
  const homes = moduleIds.map(id => {
    const library = /.*node_modules\/(?:@[^/]+\/)?([^/]+)\//.exec(id)?.[1]
    if (library !== undefined) return `lib-${library}`
    const [, room, file] = /\/src\/(?:([\w-]+)\/)?(?:.*\/)?([\w-]+)\.ts$/.exec(id) ?? []
    return moduleIds.length === 1 && file
      ? [room, file].filter(Boolean).join('-')
      : (room ?? file ?? 'runtime')
  })
  const counts = new Map<string, number>()
  for (const home of homes) counts.set(home, (counts.get(home) ?? 0) + 1)
  const [[name] = ['runtime']] = [...counts].toSorted(([, one], [, other]) => other - one)
  return moduleIds.length > 1 && !name.startsWith('lib-') ? `${name}-room` : name
}

/** Small, since every job loads it anew; names at the top level are kept, so that a stack can be read. */
const output = {
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: ({ moduleIds }) => `${nameChunk(moduleIds)}.js`,
  minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
} satisfies OutputOptions

/** What a job does not call, its bundle does not hold: `@actions/core` brings an HTTP client for a token that winnow never asks for. */
const treeshake: TreeshakingOptions = {
  moduleSideEffects: [
    { test: /\/node_modules\/(?:@actions|tunnel|undici)\//, sideEffects: false },
    // The core layer has values in and values out.
    { test: /\/src\/(?:spec|model|decide|probes|plan|report)\//, sideEffects: false },
  ],
}

const PACKAGE_JSON = join(import.meta.dirname, 'package.json')

const licenses = licensesOfBundled('dist/third-party-licenses.txt')

/** `debug` chooses when it is loaded, and would bring what only a browser runs. */
const noBrowser = {
  name: 'no-browser',
  load: (id: string) => (/\/debug\/src\/browser\.js$/.test(id) ? 'module.exports = {}' : null),
}

/** What simple-git says of itself with DEBUG set: nobody reads it in a job, and it is a hundredth of what such a job loads. */
const noDebug = {
  name: 'no-debug',
  load: (id: string) =>
    /\/debug\/src\/index\.js$/.test(id)
      ? 'const silent = () => Object.assign(() => {}, { enabled: false, extend: silent }); module.exports = Object.assign(silent, { formatters: {} })'
      : null,
}

/** `npm run build` writes everything that is generated and committed: dist and the spec's JSON Schema. */
export default defineConfig([
  {
    input: { cli: 'src/cli/main.ts', index: 'src/index.ts', action: 'src/action/main.ts' },
    platform: 'node',
    treeshake,
    output: { ...output, cleanDir: true },
    plugins: [
      licenses(),
      noBrowser,
      {
        // A change of a script or of a development dependency changes nothing that is run.
        name: 'version-only',
        load(id) {
          if (id !== PACKAGE_JSON) return null
          const { version } = JSON.parse(readFileSync(id, 'utf8'))
          return { code: JSON.stringify({ version }), moduleType: 'json' }
        },
      },
      {
        name: 'spec-schema',
        writeBundle: () => writeFileSync('schema/spec.schema.json', renderSpecJsonSchema()),
      },
      {
        // npm links a clone's program and would make it executable itself, a local change that stops the next git pull.
        name: 'executable',
        writeBundle: () => chmodSync('dist/cli.js', 0o755),
      },
    ],
  },
  // Each by itself: a job that runs code of others loads nothing that it does not need.
  {
    input: { measure: 'src/action/measure.ts' },
    platform: 'node',
    treeshake,
    output,
    plugins: [licenses(), noDebug],
  },
  {
    input: { propose: 'src/action/propose.ts' },
    platform: 'node',
    treeshake,
    // Chunks of this build hold other exports than those of the first one.
    output: { ...output, chunkFileNames: ({ moduleIds }) => `propose-${nameChunk(moduleIds)}.js` },
    plugins: [licenses(), noDebug],
  },
])
