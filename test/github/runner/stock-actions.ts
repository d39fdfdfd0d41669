import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { download, upload } from './artifacts.ts'
import { checkout } from './checkout.ts'
import type { Machine } from './machine.ts'

export interface StockCall {
  inputs: Record<string, string>
  machine: Machine
}

export interface StockAnswer {
  outputs: Record<string, string>
  /** The name of the step that runs after the job. */
  post?: string
  warning?: string | null
}

export type StockAction = (call: StockCall) => Promise<StockAnswer>

interface Stock {
  run: StockAction
  /** Its inputs with their defaults. */
  inputs: Record<string, string>
}

const TOKEN = '${{ github.token }}'

/** Does nothing here; its step is on record. */
const nothing =
  (post: string | null): StockAction =>
  async () => ({ outputs: {}, ...(post === null ? {} : { post }) })

/** Keeps what it would sign: a test signs it with an authority of its own. */
const attest: StockAction = async ({ inputs, machine: { world, run, workspace, contexts } }) => {
  const lines = readFileSync(join(workspace, inputs['subject-checksums'] ?? ''), 'utf8')
    .trimEnd()
    .split('\n')
  const subjects = lines.map(line => {
    const [, sha256 = '', name = ''] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? []
    if (name === '') throw new Error(`not a line of a checksums file: ${line}`)
    return { name, sha256 }
  })
  const { workflow_ref: workflow, sha } = contexts.github
  world.attested.push({ run: run.id, subjects, workflow: String(workflow), commit: String(sha) })
  return { outputs: {} }
}

const CACHE = { path: '', key: '', 'restore-keys': '', 'fail-on-cache-miss': 'false', 'lookup-only': 'false' }

/** Actions that GitHub publishes, as far as they are used here. */
export const STOCK: Readonly<Record<string, Stock>> = {
  'actions/checkout': {
    run: checkout,
    inputs: {
      repository: '',
      ref: '',
      token: TOKEN,
      path: '',
      'fetch-depth': '1',
      'persist-credentials': 'true',
      clean: 'true',
      'set-safe-directory': 'true',
    },
  },
  'actions/upload-artifact': {
    run: upload,
    inputs: {
      name: 'artifact',
      path: '',
      'if-no-files-found': 'warn',
      'retention-days': '',
      'compression-level': '6',
      overwrite: 'false',
      'include-hidden-files': 'false',
    },
  },
  'actions/download-artifact': {
    run: download,
    inputs: {
      name: '',
      path: '',
      pattern: '',
      'merge-multiple': 'false',
      'artifact-ids': '',
      'github-token': '',
      repository: '',
      'run-id': '',
      'digest-mismatch': 'error',
    },
  },
  'actions/attest-build-provenance': {
    run: attest,
    inputs: { 'subject-path': '', 'subject-digest': '', 'subject-name': '', 'subject-checksums': '' },
  },
  'actions/cache': { run: nothing('Post Run actions/cache'), inputs: CACHE },
  'actions/cache/restore': { run: nothing(null), inputs: CACHE },
  'actions/cache/save': { run: nothing(null), inputs: { path: '', key: '' } },
}

/** The action's published code by owner, name and folder; any `setup-…` of GitHub's is there, and does nothing. */
export function findStock(name: string): Stock | null {
  const found = STOCK[name]
  if (found) return found
  return /^(?:actions|ruby|pnpm|oven-sh|astral-sh|dtolnay|gradle)\/(?:setup-[\w-]+|rust-toolchain|actions\/setup-gradle)$/.test(
    name,
  )
    ? { run: nothing(`Post Run ${name}`), inputs: {} }
    : null
}
