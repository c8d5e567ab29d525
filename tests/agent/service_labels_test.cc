#include "recorder/agent/options/service_labels.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>

namespace heaprec::agent {
namespace {

using Labels = std::vector<format::ServiceLabel>;
using Variables = std::map<std::string, std::string>;

Labels Parse(const std::string& service, const Variables& variables) {
  return ParseServiceLabels(service, [&](const char* name) -> std::string_view {
    const auto found = variables.find(name);
    return found != variables.end() ? std::string_view(found->second) : std::string_view();
  });
}

}  // namespace

TEST_CASE("The option takes precedence over OTEL_SERVICE_NAME, and that over the resource attributes") {
  const Variables one{{"OTEL_RESOURCE_ATTRIBUTES", "service.name=c,service.version=1.2"}};
  Variables both = one;
  both["OTEL_SERVICE_NAME"] = "b";
  CHECK(Parse("a", both) == Labels{{"service.name", "a"}, {"service.version", "1.2"}});
  CHECK(Parse("", both) == Labels{{"service.name", "b"}, {"service.version", "1.2"}});
  CHECK(Parse("", one) == Labels{{"service.name", "c"}, {"service.version", "1.2"}});
  CHECK(Parse("", {}).empty());
}

TEST_CASE("Host and pod come from the resource attributes, otherwise from other variables") {
  Variables variables{{"HOSTNAME", "h"}, {"POD_NAME", "p"}, {"POD_NAMESPACE", "n"}, {"PASSWORD", "secret"}};
  CHECK(Parse("", variables) == Labels{{"host.name", "h"}, {"k8s.namespace.name", "n"}, {"k8s.pod.name", "p"}});
  variables["OTEL_RESOURCE_ATTRIBUTES"] = "host.name=node7,k8s.pod.name=";
  CHECK(Parse("", variables) == Labels{{"host.name", "node7"}, {"k8s.namespace.name", "n"}, {"k8s.pod.name", "p"}});
}

TEST_CASE("Resource attributes are percent-decoded, and only documented keys are kept") {
  CHECK(Parse("", {{"OTEL_RESOURCE_ATTRIBUTES",
                    " deployment.environment.name = pre%2Cprod%20%C3%A9 ,password=secret,service.namespace=x,"
                    "service.instance.id=,service.version=%4,nothing"}}) ==
        Labels{{"service.namespace", "x"},
               {"service.version", "%4"},
               {"deployment.environment.name", "pre,prod \xc3\xa9"}});
}

TEST_CASE("A long value is cut after a whole character") {
  const Labels labels = Parse(std::string(254, 'a') + "\xc3\xa9", {});
  REQUIRE(labels.size() == 1);
  CHECK(labels[0].value == std::string(254, 'a'));
}

TEST_CASE("The environment of the process is read, hashed, or not read") {
  for (const char* name : {"HOSTNAME", "POD_NAME", "POD_NAMESPACE"}) unsetenv(name);
  setenv("OTEL_SERVICE_NAME", "shop", 1);
  setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,service.namespace=web", 1);
  CHECK(ServiceLabels("", LabelChoice::kOn) == Labels{{"service.name", "shop"}, {"service.namespace", "web"}});
  CHECK(ServiceLabels("mine", LabelChoice::kOn).front().value == "mine");
  CHECK(ServiceLabels("mine", LabelChoice::kOff).empty());
  const Labels hashed = ServiceLabels("", LabelChoice::kRedact);
  REQUIRE(hashed.size() == 2);
  CHECK(hashed[0].key == "service.name");
  CHECK(hashed[0].value.size() == 16);
  CHECK(hashed[0].value != hashed[1].value);
  CHECK(hashed == ServiceLabels("", LabelChoice::kRedact));
  for (const char* name : {"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"}) unsetenv(name);
}

}  // namespace heaprec::agent
