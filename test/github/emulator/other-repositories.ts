import { notFound } from './refusal.ts'
import type { Ask, Routes } from './route.ts'
import type { OtherRepository } from './world.ts'

const REPO = '/repos/{owner}/{repo}'

/** A repository that is not the one of the campaign: as much as there is to know about an action. */
export const otherRoutes: Routes = {
  [`GET ${REPO}`]: {
    needs: 'metadata=read',
    handle: ask => {
      const { owner = '', repo = '' } = ask.params
      return { status: 200, body: { name: repo, full_name: `${owner}/${repo}`, private: there(ask).private } }
    },
  },
  [`GET ${REPO}/git/commits/{commit_sha}`]: {
    needs: 'contents=read',
    handle: ask => {
      const sha = ask.params['commit_sha'] ?? ''
      if (!there(ask).commits.includes(sha)) throw notFound()
      return { status: 200, body: { sha } }
    },
  },
  [`GET ${REPO}/actions/permissions/access`]: {
    needs: 'administration=read',
    handle: ask => ({ status: 200, body: { access_level: there(ask).access } }),
  },
}

function there({ world, params }: Ask): OtherRepository {
  const found = world.others.get(`${params['owner']}/${params['repo']}`)
  if (found === undefined) throw notFound()
  return found
}
