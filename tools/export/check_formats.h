// The result of a check in the formats of CI servers.
//
// Failure:  none. Texts may contain names from recordings, which each format escapes.
#pragma once

#include <string>
#include <vector>

#include "tools/query/compare/budget_check.h"

namespace heaprec::tools {

// "1.91 MiB/op (1.70-2.10)"; against a baseline "+200 % (+150..+260), from 48.8 KiB/s to 146 KiB/s".
std::string MeasuredText(const CheckResult& check);
// "1.00 MiB/op"; against a baseline "+60.0 %".
std::string AllowedText(const CheckResult& check);
// Why there are no verdicts: "inconclusive: the recording is untrustworthy".
std::string WithheldText(const CheckAnswer& answer);
// "by site: 2 of 412 exceeded against the baseline"
std::string RowsText(const CheckedRows& rows);
// Verdicts on the recording and the baseline: "trustworthy: no, because ...".
std::vector<std::string> TrustTexts(const CheckAnswer& answer);

std::string AsJunit(const CheckAnswer& answer);
// Workflow commands of GitHub Actions, which become annotations: exceeded and unknown budgets are errors, inconclusive
// ones warnings.
std::string AsGitHub(const CheckAnswer& answer);
// SARIF 2.1.0: exceeded budgets are errors, inconclusive ones warnings.
std::string AsSarif(const CheckAnswer& answer);

}  // namespace heaprec::tools
