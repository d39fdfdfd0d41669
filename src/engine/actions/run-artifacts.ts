import type { Artifact, ExpectedArtifact, UnzipResult, Workflows } from '../../forge/port.ts'

export interface RunArtifacts {
  /** The one file of the one artifact with this name, if it has the digest that the job told which uploaded it. */
  fetch(name: string, parcel: ExpectedArtifact): Promise<UnzipResult>
}

/** What jobs of one run uploaded under these names: listed once, and each downloaded once. */
export function createRunArtifacts(
  workflows: Workflows,
  run: number,
  names: readonly string[],
): RunArtifacts {
  const fetched = new Map<string, Promise<UnzipResult>>()
  let listed: Promise<Artifact[]> | null = null

  async function fetchOne(name: string, parcel: ExpectedArtifact): Promise<UnzipResult> {
    const found = (await (listed ??= workflows.artifacts(run, names))).filter(each => each.name === name)
    const [only, ...others] = found
    if (only === undefined) return { ok: false, why: `its run has no artifact ${name}` }
    if (others.length > 0) return { ok: false, why: `its run has ${found.length} artifacts called ${name}` }
    const unpacked = await workflows.download(only, parcel)
    return unpacked.ok ? unpacked : { ok: false, why: `its artifact cannot be used: ${unpacked.why}` }
  }

  return {
    fetch(name, parcel) {
      const known = fetched.get(name) ?? fetchOne(name, parcel)
      fetched.set(name, known)
      return known
    },
  }
}
