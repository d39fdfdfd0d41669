import type { ProjectLocation } from '../findings.ts'
import { findNearestAbove } from '../lockfiles.ts'
import { readJsonManifest, getNestedText } from '../project-files.ts'

/** How one package manager is spoken to. */
export interface NodeManager {
  name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** From the lock file alone, and never changing it. */
  install: string
  /** Where there is no lock file. */
  freeInstall: string
  test: string
  /** Without a banner: what the script prints is all that is printed. */
  run: (script: string) => string
  /** Before arguments that are meant for the script. */
  pass: '' | ' --'
  exec: string
}

const NPM: NodeManager = {
  name: 'npm',
  install: 'npm ci',
  freeInstall: 'npm install --no-package-lock',
  test: 'npm test',
  run: script => `npm run --silent ${script}`,
  pass: ' --',
  exec: 'npx --no-install',
}
const PNPM: NodeManager = {
  name: 'pnpm',
  install: 'pnpm install --frozen-lockfile',
  freeInstall: 'pnpm install --no-lockfile',
  test: 'pnpm test',
  run: script => `pnpm --silent run ${script}`,
  pass: '',
  exec: 'pnpm exec',
}
const YARN: NodeManager = {
  name: 'yarn',
  install: 'yarn install --immutable',
  freeInstall: 'yarn install',
  test: 'yarn test',
  run: script => `yarn run ${script}`,
  pass: '',
  exec: 'yarn exec',
}
const YARN_CLASSIC: NodeManager = {
  ...YARN,
  install: 'yarn install --frozen-lockfile',
  freeInstall: 'yarn install --no-lockfile',
  run: script => `yarn --silent run ${script}`,
  exec: 'yarn --silent exec',
}
const BUN: NodeManager = {
  name: 'bun',
  install: 'bun install --frozen-lockfile',
  freeInstall: 'bun install --no-save',
  test: 'bun run test',
  run: script => `bun run --silent ${script}`,
  pass: '',
  exec: 'bunx',
}

const LOCKS: Readonly<Record<string, NodeManager>> = {
  'pnpm-lock.yaml': PNPM,
  'bun.lock': BUN,
  'bun.lockb': BUN,
  'yarn.lock': YARN,
  'package-lock.json': NPM,
  'npm-shrinkwrap.json': NPM,
}

interface FoundManager {
  manager: NodeManager
  /** Directories above the project, where the lock file is; null without one. */
  lock: { name: string; steps: number } | null
}

export function findNodeManager(yard: ProjectLocation): FoundManager {
  const lock = findNearestAbove(yard, Object.keys(LOCKS))
  const declared = /^(npm|pnpm|yarn|bun)@(\d+)/.exec(readDeclaredManager(yard) ?? '')
  const byLock = lock === null ? null : (LOCKS[lock.name] ?? null)
  const manager = findManagerNamed(declared?.[1]) ?? byLock ?? NPM
  const classic = declared?.[1] === 'yarn' ? declared[2] === '1' : !hasBerryConfig(yard)
  return { manager: manager === YARN && classic ? YARN_CLASSIC : manager, lock }
}

function readDeclaredManager(yard: ProjectLocation): string | null {
  return (
    getNestedText(readJsonManifest(yard.files, 'package.json'), 'packageManager') ??
    getNestedText(readJsonManifest(yard.repository, 'package.json'), 'packageManager')
  )
}

function findManagerNamed(name: string | undefined): NodeManager | null {
  return [NPM, PNPM, YARN, BUN].find(each => each.name === name) ?? null
}

function hasBerryConfig({ repository }: ProjectLocation): boolean {
  return repository.paths.includes('.yarnrc.yml')
}
