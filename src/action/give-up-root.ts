import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import type { Spec } from '../spec/schema.ts'
import type { ActionEnv } from './inputs.ts'

const DOCKER = '/var/run/docker.sock'
const OTHERS = ['/run/containerd/containerd.sock', '/var/snap/lxd/common/lxd/unix.socket']
/** Read last, so that it holds whatever stands before. */
const SUDOERS = '/etc/sudoers.d/zz-winnow'

/** A machine of GitHub's, made for this job and thrown away after it. */
export function isHosted({ RUNNER_ENVIRONMENT }: ActionEnv): boolean {
  return RUNNER_ENVIRONMENT === 'github-hosted' && process.platform === 'linux'
}

/**
 * What the job's user could become root by, and as root read the memory of the runner: gone before anything of an
 * experiment runs as that user, and before anything comes after one that ran as another. Who stops service containers at
 * the end of the job speaks to Docker's socket; it stays where nothing says that there are none.
 */
export function dropRoot(env: ActionEnv, uid: number, services: Spec['execution']['services'] | null): void {
  if (!isHosted(env) || uid === 0) return
  const unused = services !== null && Object.keys(services).length === 0
  const sockets = unused ? [DOCKER, ...OTHERS] : OTHERS
  for (const socket of sockets) if (existsSync(socket)) chmodSync(socket, 0o600)
  writeFileSync(SUDOERS, `#${uid} ALL=(ALL:ALL) !ALL\n`)
}
