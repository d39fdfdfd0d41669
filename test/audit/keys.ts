import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface SshKey {
  file: string
  publicKey: string
}

/** For tests that need gpg: not every machine has it. */
export const HAS_GPG = hasProgram('gpg') && hasProgram('gpgconf')

function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

export function createSshKey(root: string, name: string, passphrase = ''): SshKey {
  const file = join(root, name)
  const options = ['-q', '-t', 'ed25519', '-N', passphrase, '-C', name]
  execFileSync('ssh-keygen', [...options, '-f', file], { stdio: 'ignore', timeout: 20_000 })
  return { file, publicKey: readFileSync(`${file}.pub`, 'utf8').trim() }
}

/** The file that git's gpg.ssh.allowedSignersFile names. */
export function writeAllowedSigners(root: string, signers: Readonly<Record<string, SshKey>>): string {
  const file = join(root, 'allowed-signers')
  const lines = Object.entries(signers).map(([who, { publicKey }]) => `${who} ${publicKey}`)
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

interface GpgHome {
  dir: string
  key: string
  env: Record<string, string>
  /** Makes the key expire or revokes it, as its owner would. */
  run: (...args: string[]) => string
}

/** A keyring of its own, with one key without a passphrase. Its agent ends with the test. */
export function createGpgHome(email: string): GpgHome {
  // The path of the agent's socket must be short.
  const dir = mkdtempSync(join(tmpdir(), 'wg-'))
  chmodSync(dir, 0o700)
  const env = { GNUPGHOME: dir }
  const run = (...args: string[]) =>
    execFileSync('gpg', ['--batch', '--quiet', '--no-tty', '--passphrase', '', ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...env },
      encoding: 'utf8',
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  onTestFinished(() => {
    execFileSync('gpgconf', ['--homedir', dir, '--kill', 'gpg-agent'], { timeout: 20_000, stdio: 'ignore' })
    rmSync(dir, { recursive: true, force: true })
  })
  run('--pinentry-mode', 'loopback', '--quick-generate-key', `Tester <${email}>`, 'ed25519', 'sign', 'never')
  const key = /^fpr:+([0-9A-F]+):/m.exec(run('--with-colons', '--list-keys', email))?.[1] ?? ''
  return { dir, key, env, run }
}
