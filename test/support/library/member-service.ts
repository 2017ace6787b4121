// The members of the library.
import { change, refusal, removed, write } from '@plant-store/engine'
import type { Request, Result } from './contract.gen.ts'
import { LIBRARY, mayActFor, type Members } from './library.ts'

export class MemberService {
  readonly #members: Members

  constructor(members: Members) {
    this.#members = members
  }

  async addMember({ path: { id }, body }: Request<'addMember'>): Promise<Result<'addMember'>> {
    const member = await this.#members.create(LIBRARY, id, { ...body, open: 0 })
    const isSame = member.name === body.name && member.email === body.email
    return isSame ? { status: 200, body: member } : refusal(409, 'The id is taken')
  }

  async getMember(request: Request<'getMember'>): Promise<Result<'getMember'>> {
    const { id } = request.path
    if (!mayActFor(id, request)) return refusal(403, 'For librarians, and the member')
    const member = await this.#members.find(LIBRARY, id)
    return member === undefined ? refusal(404, 'No such member') : { status: 200, body: member }
  }

  async findMember({ query: { email } }: Request<'findMember'>): Promise<Result<'findMember'>> {
    const member = await this.#members.find(LIBRARY, { index: 'email', equals: [email] })
    if (member === undefined) return refusal(404, 'No member has this address')
    return { status: 200, body: { id: member.key, member: member.item } }
  }

  async changeEmail(request: Request<'changeEmail'>): Promise<Result<'changeEmail'>> {
    const { id } = request.path
    if (!mayActFor(id, request)) return refusal(403, 'For librarians, and the member')
    const { email } = request.body
    const member = await this.#members.update(LIBRARY, id, (stored) => ({ ...stored, email }))
    return member === undefined ? refusal(404, 'No such member') : { status: 200, body: member }
  }

  async removeMember({ path: { id } }: Request<'removeMember'>): Promise<Result<'removeMember'>> {
    return change(LIBRARY, { member: this.#members.at(id) }, ({ member }) => {
      if (member === undefined) return refusal(404, 'No such member')
      if (member.open > 0) return refusal(409, 'The member has loans')
      return write({ member: removed }, { status: 204 })
    })
  }
}
