import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Spec } from '../spec/schema.ts'
import { isMissing } from './missing.ts'

type EnvFile = Spec['measurement']['env_file']

/** The named keys of a dotenv file and no others; one that is named but not there is an error. */
export function readEnvFile(file: EnvFile, root: string | null): Record<string, string> {
  if (file === null) return {}
  const place = { file: file.path }
  if (root === null) {
    throw new UserError('measurement.env_file needs the repository it lies in', {
      place,
      fix: 'run where the repository is checked out, or remove measurement.env_file',
    })
  }
  const values = parseDotenv(readText(join(root, file.path), place))
  const missing = file.keys.filter(key => !values.has(key))
  if (missing.length > 0) {
    throw new UserError(`measurement.env_file lacks ${missing.join(', ')}`, {
      place,
      fix: 'add what is named in keys',
    })
  }
  return Object.fromEntries(file.keys.map(key => [key, values.get(key) ?? '']))
}

function readText(path: string, place: { file: string }): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new UserError(`measurement.env_file does not exist: ${path}`, {
      place,
      fix: 'create it, or remove the key',
    })
  }
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^#]*?))\s*(?:#.*)?$/

function parseDotenv(text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, name, double, single, bare] = LINE.exec(line) ?? []
    if (name === undefined) continue
    values.set(name, double === undefined ? (single ?? bare ?? '') : unescape(double))
  }
  return values
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
}
