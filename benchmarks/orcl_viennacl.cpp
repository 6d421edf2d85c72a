// ViennaCL's operations on one OpenCL device: timed by the host's clock, or done once for their result.
//
//     orcl_viennacl N ROWS INPUTS PLATFORM VERSION DEVICE
//
// INPUTS holds doubles: five vectors of N, a matrix of ROWS x ROWS, a vector of ROWS.  The device is the one with
// these names; its name is printed first.  Each line of input is `time NAME`, answered by seconds, or
// `result NAME FILE`: the operation is done on fresh inputs and what it computes is written to FILE as doubles.
#define CL_TARGET_OPENCL_VERSION 120
#define VIENNACL_WITH_OPENCL
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/ocl/backend.hpp>
#include <viennacl/vector.hpp>

typedef viennacl::vector<double> Vector;

static std::string trimmed(std::string text)
{
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0'))
    text.pop_back();
  return text;
}

static std::string platform_text(cl_platform_id platform, cl_platform_info what)
{
  char text[1024] = "";
  clGetPlatformInfo(platform, what, sizeof text - 1, text, nullptr);
  return trimmed(text);
}

// The device of these names.
static bool choose(const std::string &platform, const std::string &version, const std::string &device)
{
  cl_platform_id platforms[64];
  cl_uint count = 0;
  if (clGetPlatformIDs(64, platforms, &count) != CL_SUCCESS)
    return false;
  for (cl_uint p = 0; p < count; p++) {
    cl_device_id devices[64];
    cl_uint found = 0;
    if (platform_text(platforms[p], CL_PLATFORM_NAME) != platform ||
        platform_text(platforms[p], CL_PLATFORM_VERSION) != version ||
        clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &found) != CL_SUCCESS)
      continue;
    for (cl_uint d = 0; d < found; d++) {
      char name[1024] = "";
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
      if (trimmed(name) == device) {
        viennacl::ocl::setup_context(0, std::vector<cl_device_id>(1, devices[d]));
        return true;
      }
    }
  }
  return false;
}

struct Arrays {
  std::vector<Vector> v;
  viennacl::matrix<double> matrix;
  Vector in, out;
  double number = 0.0;

  Arrays(const std::vector<double> &data, std::size_t n, std::size_t rows)
      : matrix(rows, rows), in(rows), out(viennacl::scalar_vector<double>(rows, 0.0))
  {
    const double *at = data.data();
    for (int k = 0; k < 5; k++, at += n) {
      v.push_back(Vector(n));
      viennacl::fast_copy(at, at + n, v.back().begin());
    }
    std::vector<std::vector<double> > lines(rows, std::vector<double>(rows));
    for (std::size_t i = 0; i < rows; i++, at += rows)
      lines[i].assign(at, at + rows);
    viennacl::copy(lines, matrix);
    viennacl::fast_copy(at, at + rows, in.begin());
  }

  // Does an operation; the vector with its result, null where that is `number` or there is no such operation.
  Vector *run(const std::string &name)
  {
    if (name == "vecaxpy")
      return v[1] += 0.999 * v[0], &v[1];
    if (name == "vecscale")
      return v[0] *= 0.999, &v[0];
    if (name == "vecwaxpy")
      return v[2] = v[1] + 0.999 * v[0], &v[2];
    if (name == "vecmaxpy") {  // the library has operations for two vectors at a time
      v[4] += 0.999 * v[0] + 0.5 * v[1];
      return v[4] += 0.25 * v[2] + 0.125 * v[3], &v[4];
    }
    if (name == "matvec")
      return out = viennacl::linalg::prod(matrix, in), &out;
    if (name == "dot")
      number = viennacl::linalg::inner_prod(v[0], v[1]);
    else if (name == "norm")
      number = viennacl::linalg::norm_2(v[0]);
    else
      std::exit(2);
    return nullptr;
  }
};

int main(int count, char **words)
{
  if (count != 7)
    return 2;
  const std::size_t n = std::strtoul(words[1], nullptr, 10), rows = std::strtoul(words[2], nullptr, 10);
  std::vector<double> data(5 * n + rows * rows + rows);
  std::ifstream file(words[3], std::ios::binary);
  if (!file.read(reinterpret_cast<char *>(data.data()), static_cast<std::streamsize>(8 * data.size())))
    return 2;
  if (!choose(words[4], words[5], words[6]))
    return 3;
  std::unique_ptr<Arrays> arrays(new Arrays(data, n, rows));
  std::cout << viennacl::ocl::current_device().name() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream parts(line);
    std::string order, name, path;
    parts >> order >> name >> path;
    if (order == "result")
      arrays.reset(new Arrays(data, n, rows));
    viennacl::backend::finish();
    const auto began = std::chrono::steady_clock::now();
    const Vector *result = arrays->run(name);
    viennacl::backend::finish();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    if (order == "result") {
      std::vector<double> values(1, arrays->number);
      if (result != nullptr) {
        values.resize(result->size());
        viennacl::fast_copy(result->begin(), result->end(), values.begin());
      }
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char *>(values.data()), static_cast<std::streamsize>(8 * values.size()));
      arrays.reset(new Arrays(data, n, rows));
    }
    std::cout << took.count() << std::endl;
  }
  return 0;
}
