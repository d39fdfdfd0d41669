import { posix } from 'node:path'
import { readJsonManifest, type ProjectFiles, getNestedText } from '../project-files.ts'
import type { NodeManager } from './node-manager.ts'

/** A script of package.json, with what only prepares it taken apart: that is set-up, and is not timed. */
interface SplitScript {
  builds: string[]
  /** The rest, as one command. */
  command: string
  /** Its last part, and the directory where that runs; '' is the project's. */
  last: string
  directory: string
}

const RUN = /^(?:npm|pnpm|yarn|bun)(?:\s+(?:run|run-script))?((?:\s+-{1,2}[\w-]+)*)\s+([\w:.-]+)\s*$/
const INSTALL = /^(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install)\b/
const PREPARES = /^(?:pre)?(?:build|compile|prepare|bundle|transpile|generate)/
const BUILD_TOOLS =
  /^(?:npx\s+)?(?:tsc|tsup|rollup|rolldown|esbuild|webpack|swc|babel|parcel|gulp|make|cmake|cargo build|node-gyp|wasm-pack|vite build|node\s+(?:\.\/)?(?:scripts\/)?build[\w./-]*)(?=\s|$)/

/** `npm run build && node test/bench.js`: the build is made once, and only the rest is measured. */
export function splitScript(files: ProjectFiles, script: string, manager: NodeManager): SplitScript {
  const parts = script
    .split('&&')
    .map(part => part.trim())
    .filter(part => part !== '')
  const builds: string[] = []
  const rest: string[] = []
  let directory = ''
  for (const [index, part] of parts.entries()) {
    const moved = /^cd\s+([\w./-]+)$/.exec(part)?.[1]
    if (moved !== undefined) directory = posix.normalize(posix.join(directory, moved))
    else if (index < parts.length - 1 && isPreparation(part)) {
      builds.push(wrapInDirectory(directory, toSetupCommand(part, manager)))
    } else rest.push(part)
  }
  const last = expandNestedScript(files, directory, rest.at(-1) ?? '', manager)
  const all = [...rest.slice(0, -1), last]
  const command = directory === '' ? all.join(' && ') : [`cd ${directory}`, ...all].join(' && ')
  return { builds, command, last, directory }
}

function wrapInDirectory(directory: string, command: string): string {
  return directory === '' ? command : `(cd ${directory} && ${command})`
}

function isPreparation(part: string): boolean {
  const [, , name = ''] = RUN.exec(part) ?? []
  return INSTALL.test(part) || PREPARES.test(name) || BUILD_TOOLS.test(part)
}

function toSetupCommand(part: string, manager: NodeManager): string {
  if (INSTALL.test(part)) return manager.freeInstall
  const [, , name] = RUN.exec(part) ?? []
  if (name !== undefined) return manager.run(name)
  return toStartableCommand(part, manager)
}

/** Programs of node_modules are on the PATH of scripts only. */
function toStartableCommand(part: string, manager: NodeManager): string {
  const first = part.split(/\s+/).find(word => !/^\w+=/.test(word)) ?? ''
  const isGlobal = /^(?:node|npm|npx|pnpm|yarn|bun|sh|bash|make|cmake|cargo|time|env|\.{0,2}\/.*)$/.test(
    first,
  )
  return isGlobal ? part : `${manager.exec} ${part}`
}

/** `npm test` in the directory of the benchmarks is what that manifest says. */
function expandNestedScript(
  files: ProjectFiles,
  directory: string,
  part: string,
  manager: NodeManager,
): string {
  const [, , name] = RUN.exec(part) ?? []
  const manifest = readJsonManifest(files, directory === '' ? 'package.json' : `${directory}/package.json`)
  const text = name === undefined ? null : getNestedText(manifest, 'scripts', name)
  if (text === null || /[;|<>&]/.test(text)) return toStartableCommand(part, manager)
  return toStartableCommand(text, manager)
}
