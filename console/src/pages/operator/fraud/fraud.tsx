import { Skeleton } from '@mantine/core'
import { useApi } from '../../../api/context.tsx'
import { useRead } from '../../../api/use-read.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Page } from '../../../parts/page.tsx'
import { FraudForm } from './fraud-form.tsx'
import { FRAUD } from './paths.ts'

/** The fraud rules for every account without its own. */
export default function Fraud() {
  const api = useApi()
  const read = useRead(FRAUD)
  return (
    <Page
      title="Fraud rules"
      lead="Which verification codes the fraud guard refuses, in every account without its own rules. Empty fields use the default."
      narrow
    >
      {!read.data && read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!read.data && !read.error && <Skeleton h={420} />}
      {read.data && (
        <FraudForm
          view={read.data.data}
          usual="Default"
          read={async () => (await api.get(FRAUD)).data}
          save={body => api.put(FRAUD, { body })}
        />
      )}
    </Page>
  )
}
