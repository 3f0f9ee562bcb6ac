import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Problem } from "../text/problem.tsx";
import { SkeletonRows } from "./skeleton.tsx";

type Props<T> = {
  query: UseQueryResult<T>;
  skeleton?: ReactNode;
  /** What failed is told by the children, where it was asked for. */
  isTold?: boolean;
  /** Shown instead when there is nothing to show. */
  empty?: (data: T) => ReactNode | undefined | false;
  children: (data: T) => ReactNode;
};

/** The four faces of whatever is asked of the service: loading, failed, empty, full. */
export function Asked<T>({ query, skeleton = <SkeletonRows />, isTold = false, empty, children }: Props<T>) {
  const { data, error, refetch } = query;
  if (data === undefined) return error ? <Problem error={error} again={() => void refetch()} /> : skeleton;
  return (
    <>
      {error && !isTold && <Problem error={error} again={() => void refetch()} />}
      {empty?.(data) || children(data)}
    </>
  );
}
